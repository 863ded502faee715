/** A machine that runs in QEMU, as {@link Machine}. */
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { runCommand } from '@dock/foundation'
import type { MachineFolder } from '../jail/machine-folder.ts'
import type { MachineGroup } from '../jail/machine-group.ts'
import { findMachineProcess } from '../jail/machine-process.ts'
import type { DiskStop, Machine, MachineSize } from '../machine.ts'
import { type GuestNetwork, leaveNetwork } from '../network/join-network.ts'
import { incomingSet, outgoingUri, portCount, rootNode } from './qemu-arguments.ts'
import { type QmpClient, type QmpEvent, QmpRefused } from './qmp-client.ts'

/** How often a machine that could not write tries again. */
const diskRetryMs = 2_000
const pollMs = 3
/** Between the end of the connection and that of the process. */
const endGraceMs = 2_000
/** A saved memory has some bytes for each page besides the pages. */
const memoryFileRatio = 1.1
const memoryTimeoutMs = 300_000
/** Bytes a second: as fast as the disk takes it. */
const memoryBandwidth = 2 ** 33

export type QemuMachineParts = {
  id: string
  size: MachineSize
  network: GuestNetwork | null
  netnsPath: string | null
  group: MachineGroup
  folder: MachineFolder
  /** Resolves when the process has ended, with what it printed last; undefined if another process started it. */
  lastWords: Promise<string> | undefined
}

/** Returns the size of the largest file that a machine may write: its disk, or its saved memory. */
export function fileBytesMax(diskBytes: number, memoryMiB: number): number {
  return Math.max(diskBytes, Math.ceil(memoryMiB * memoryFileRatio) * 2 ** 20)
}

const readFileLimit = (pid: number): number =>
  Number(/^Max file size\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'utf8'))?.[1] ?? 0)

/** Ends a machine's processes and removes its group, network and folder. Idempotent. */
export async function removeMachine(
  group: MachineGroup,
  folder: MachineFolder,
  netnsPath: string | null,
): Promise<void> {
  await group.end()
  if (netnsPath !== null) await leaveNetwork(netnsPath)
  await folder.remove()
}

export class QemuMachine implements Machine {
  readonly id: string
  readonly size: MachineSize
  readonly network: GuestNetwork | null
  readonly ended: Promise<string>
  ranOutOfMemory = false
  readonly #parts: QemuMachineParts
  readonly #monitor: QmpClient
  readonly #listeners: ((stop: DiskStop) => void)[] = []
  #isPaused = false
  #isLeft = false
  #retry: NodeJS.Timeout | undefined

  constructor(parts: QemuMachineParts, monitor: QmpClient) {
    this.id = parts.id
    this.size = parts.size
    this.network = parts.network
    this.#parts = parts
    this.#monitor = monitor
    this.ended = this.#awaitEnd()
  }

  async pause(): Promise<void> {
    this.#isPaused = true
    await this.#monitor.execute('stop')
  }

  async resume(): Promise<void> {
    this.#isPaused = false
    await this.#monitor.execute('cont')
  }

  async saveMemory(): Promise<void> {
    await this.#monitor.execute('migrate-set-parameters', { 'max-bandwidth': memoryBandwidth })
    await this.#monitor.execute('migrate', { uri: outgoingUri })
    const deadline = performance.now() + memoryTimeoutMs
    for (;;) {
      const { status, 'error-desc': reason } = (await this.#monitor.execute('query-migrate')) as {
        status?: string
        'error-desc'?: string
      }
      if (status === 'completed') return
      if (status === 'failed' || status === 'cancelled' || performance.now() > deadline)
        throw new Error(`the memory of machine ${this.id} was not saved: ${reason ?? status}`)
      await delay(pollMs)
    }
  }

  /** Waits until the memory that QEMU was started with is read, and starts the processors. */
  async continueFromMemory(): Promise<void> {
    const deadline = performance.now() + memoryTimeoutMs
    while ((await this.#status()) === 'inmigrate') {
      if (performance.now() > deadline) throw new Error(`machine ${this.id} does not read its memory`)
      await delay(pollMs)
    }
    // A machine that is taken over later needs nothing of its template.
    await this.#monitor.execute('remove-fd', { 'fdset-id': incomingSet })
    await this.resume()
  }

  async resizeDisk(bytes: number): Promise<void> {
    const pid = this.pid()
    if (pid === null) throw new Error(`machine ${this.id} has ended`)
    // Only root with CAP_SYS_RESOURCE may raise the limit of a process, so it is not done without need.
    if (readFileLimit(pid) < bytes) await runCommand('prlimit', ['--pid', String(pid), `--fsize=${bytes}`])
    await this.#monitor.execute('block_resize', { 'node-name': rootNode, size: bytes })
  }

  socketOf(port: number): string {
    if (!(port >= 0 && port < portCount)) throw new Error(`machine ${this.id} has no port ${port}`)
    return this.#parts.folder.port(port)
  }

  dial(port: number): Duplex {
    return connect(this.socketOf(port))
  }

  usage(): { cpuUsec: number; memoryBytes: number } {
    return this.#parts.group.usage()
  }

  pid(): number | null {
    return findMachineProcess(this.#parts.group.pids())
  }

  watchDisk(listener: (stop: DiskStop) => void): void {
    this.#listeners.push(listener)
  }

  async kill(afterMs = 0): Promise<void> {
    if (afterMs > 0) {
      const waiting = new AbortController()
      const late = delay(afterMs, undefined, { signal: waiting.signal }).catch(() => undefined)
      await Promise.race([this.ended, late])
      waiting.abort()
    }
    const { group, folder, netnsPath } = this.#parts
    await removeMachine(group, folder, netnsPath)
    if (!this.#isLeft) await this.ended
  }

  leave(): void {
    this.#isLeft = true
    clearTimeout(this.#retry)
    this.#monitor.close()
  }

  /** Reads whether the machine is paused, after it was taken over. */
  async readState(): Promise<void> {
    const status = await this.#status()
    this.#isPaused = status === 'paused'
    if (status === 'io-error') this.#retryLater()
  }

  /** Handles an event of QEMU. */
  handle({ name, data }: QmpEvent): void {
    if (name !== 'BLOCK_IO_ERROR' || data.action !== 'stop') return
    const reason = data.nospace === true ? 'no-space' : 'error'
    const stop = { reason, message: String(data.reason ?? '').slice(0, 200) } as const
    for (const listener of this.#listeners) listener(stop)
    this.#retryLater()
  }

  #retryLater(): void {
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => {
      if (this.#isPaused) return
      // If the write fails again, there is another event.
      this.#monitor.execute('cont').catch((error: unknown) => {
        if (error instanceof QmpRefused) this.#retryLater()
      })
    }, diskRetryMs).unref()
  }

  async #status(): Promise<string> {
    const { status } = (await this.#monitor.execute('query-status')) as { status?: unknown }
    return String(status)
  }

  /** The connection ends with QEMU. If QEMU still runs after that, it does not do what it should, and is killed. */
  async #awaitEnd(): Promise<string> {
    const { message } = await this.#monitor.closed
    clearTimeout(this.#retry)
    // The machine goes on, and this object never learns of its end.
    if (this.#isLeft) return await new Promise<string>(() => undefined)
    try {
      await this.#parts.group.kill(endGraceMs)
      this.ranOutOfMemory = this.#parts.group.ranOutOfMemory()
    } catch (error) {
      return `${message}; ${(error as Error).message}`
    }
    return (await this.#parts.lastWords) || message
  }
}
