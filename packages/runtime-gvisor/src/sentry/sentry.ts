/**
 * A client for the sentry of a sandbox, over its control socket. A command takes a few milliseconds, where `runsc exec`
 * takes more than twenty. The socket is a private interface of gVisor, so the driver probes it before it relies on it
 * (`choose-transport.ts`).
 */
import type { SandboxProcess } from '@dock/runtime'
import * as z from 'zod'
import { DumpReader, type MemoryDump } from './dump-reader.ts'
import { flagPlatformProcesses } from './platform-processes.ts'
import { type SentryCallOptions, SentryConnection } from './sentry-connection.ts'

/** A process to start. Capability masks have one bit per capability. */
export type SentryCommand = {
  argv: readonly string[]
  /** The file to run, if it is not `argv[0]`. */
  executable?: string | undefined
  /** A descriptor of a program of this host that runs in place of a file. */
  fromHost?: number | undefined
  env: readonly string[]
  cwd: string
  uid: number
  gid: number
  capabilities: { bounding: number; effective: number; permitted: number }
}

const killSignal = 9
const answerDeadlineMs = 10_000
/** Deadline for calls of the memory guard, which retries without an answer. */
const memoryDeadlineMs = 2_000
/** A connection carries one call at a time, and a wait occupies one. Free connections beyond this number are closed. */
const connectionsMax = 4

const pid = z.number().int().positive()
const waitStatus = z.number().int().nonnegative()
const processList = z.array(z.object({ pid, ppid: z.number().int(), uid: z.number().int(), cmd: z.string() }))

/** True if a wait status says that a signal killed the process. */
export function isSignalled(status: number): boolean {
  return (status & 0x7f) !== 0
}

/** Converts a wait status to an exit code: 128 + signal number if a signal killed the process. */
export function exitCodeOf(status: number): number {
  return isSignalled(status) ? 128 + (status & 0x7f) : (status >> 8) & 0xff
}

export class Sentry {
  readonly #path: string
  readonly #container: string
  readonly #connections = new Set<SentryConnection>()
  readonly #watching = new Set<SentryConnection>()

  /** `path` is the control socket, `container` the sandbox's id. Connects at the first call. */
  constructor(path: string, container: string) {
    this.#path = path
    this.#container = container
  }

  /**
   * Starts a process with copies of three descriptors as its standard streams; the caller may then close its own.
   * Returns the pid. The caller must wait for it exactly once.
   */
  async start(command: SentryCommand, streams: readonly [number, number, number]): Promise<number> {
    const { capabilities, fromHost } = command
    const file = command.executable ?? (command.argv[0]?.startsWith('/') ? command.argv[0] : '')
    const argument = {
      // Without a file name, the sentry searches the program in the PATH of its environment.
      filename: fromHost === undefined ? file : '',
      argv: command.argv,
      envv: command.env,
      wd: command.cwd,
      KUID: command.uid,
      KGID: command.gid,
      ExtraKGIDs: [],
      // Without this field, root would hold every capability.
      Capabilities: {
        BoundingCaps: capabilities.bounding,
        EffectiveCaps: capabilities.effective,
        PermittedCaps: capabilities.permitted,
        InheritableCaps: 0,
        AmbientCaps: 0,
      },
      StdioIsPty: false,
      GuestFDs: [0, 1, 2],
      ContainerID: this.#container,
    }
    // The sentry runs a descriptor that is none of `GuestFDs`.
    const descriptors = fromHost === undefined ? streams : [...streams, fromHost]
    const options = { descriptors, deadlineMs: answerDeadlineMs }
    return pid.parse(await this.#call('ExecuteAsync', argument, options))
  }

  /** Waits for a started process without a deadline and returns its wait status. */
  async wait(processId: number): Promise<number> {
    const argument = { PID: processId, CID: this.#container }
    return waitStatus.parse(await this.#call('WaitPID', argument))
  }

  /** Sends a signal to a process. */
  async signal(processId: number, signal: number): Promise<void> {
    const argument = { CID: this.#container, Signo: signal, PID: processId, Mode: 0 }
    await this.#call('Signal', argument, { deadlineMs: answerDeadlineMs })
  }

  /** Kills a process and its current descendants. */
  async killTree(processId: number): Promise<void> {
    const doomed = new Set([processId])
    const processes = await this.processes()
    for (let known = 0; known < doomed.size; ) {
      known = doomed.size
      for (const each of processes) if (doomed.has(each.parentPid)) doomed.add(each.pid)
    }
    await Promise.allSettled([...doomed].map((each) => this.signal(each, killSignal)))
  }

  /** Lists every process inside. */
  async processes(): Promise<SandboxProcess[]> {
    const answer = await this.#call('Processes', this.#container, { deadlineMs: answerDeadlineMs })
    const found = processList.parse(answer)
    return flagPlatformProcesses(
      found.map((each) => ({ pid: each.pid, parentPid: each.ppid, uid: each.uid, name: each.cmd })),
    )
  }

  /** Lists processes inside with their resident memory. */
  async memory(): Promise<MemoryDump> {
    const reader = new DumpReader()
    return (await this.#call('ProcfsDump', null, { deadlineMs: memoryDeadlineMs, reader })) as MemoryDump
  }

  /** Asks the sentry to release memory that it does not need. */
  async reduceMemory(): Promise<void> {
    const argument = { wait: false, do_not_gc: false }
    await this.#call('Reduce', argument, { deadlineMs: memoryDeadlineMs, object: 'Usage' })
  }

  /** Resolves when the sentry ends or closes the connection held for this. Throws if it does not listen. */
  async ended(): Promise<void> {
    const connection = await SentryConnection.open(this.#path)
    this.#watching.add(connection)
    await connection.closed
    this.#watching.delete(connection)
  }

  /** Closes every connection. Pending calls fail. */
  close(): void {
    for (const connection of [...this.#connections, ...this.#watching]) connection.close()
    this.#connections.clear()
  }

  async #call(
    method: string,
    argument: unknown,
    { object = 'containerManager', ...options }: SentryCallOptions & { object?: string } = {},
  ): Promise<unknown> {
    const connection = this.#findFree() ?? (await SentryConnection.open(this.#path, options.deadlineMs))
    // From here to the call nothing waits, so that no other call takes the same connection.
    this.#connections.add(connection)
    try {
      return await connection.call(`${object}.${method}`, argument, options)
    } finally {
      if (!connection.isFree || this.#connections.size > connectionsMax) {
        connection.close()
        this.#connections.delete(connection)
      }
    }
  }

  #findFree(): SentryConnection | undefined {
    for (const known of this.#connections) if (known.isFree) return known
    return undefined
  }
}
