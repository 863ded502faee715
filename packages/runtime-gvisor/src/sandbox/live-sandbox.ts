/**
 * A sandbox known to this driver: its process on the host, its control group, sentry and memory guard, created lazily.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { ExecRefused, SandboxGone, type SandboxHandle, SandboxShortOfMemory } from '@dock/runtime'
import { BatchScheduling } from '../cgroup/batch-scheduling.ts'
import { type CgroupMount, SandboxCgroup } from '../cgroup/sandbox-cgroup.ts'
import { memoryGroup } from '../memory/memory-group.ts'
import { MemoryGuard } from '../memory/memory-guard.ts'
import { MemoryGuards } from '../memory/memory-guards.ts'
import { sandboxId } from '../runsc/sandbox-id.ts'
import { readSandboxState } from '../runsc/sandbox-state.ts'
import { Sentry } from '../sentry/sentry.ts'
import { SentrySilent } from '../sentry/sentry-connection.ts'
import { type HostProcess, isAlive } from '../system/host-process.ts'
import { setBatchPolicy } from '../system/system-calls.ts'
import { ExecMarks } from './exec-mark.ts'

/** Maximum time between the end of the sentry's connection and the end of its process. */
const dyingMs = 5000
const dyingPollMs = 5
const blindPollMs = 250
/** Maximum number of killed processes named per command; a fork bomb has thousands. */
const namesMax = 100

export class LiveSandbox {
  readonly id: string
  /** The name under which runsc knows the sandbox. It differs from the id if the sandbox was created ahead. */
  readonly runscName: string
  readonly process: HostProcess | undefined
  /** Identity of the runsc program that the sandbox runs on; empty if unknown. */
  readonly program: string
  readonly marks = new ExecMarks()
  /** Marks of the commands that this agent process is running in the sandbox. */
  readonly underWay = new Set<string>()
  /** For each running command, by pid: names of its processes that the memory guard killed. */
  readonly killedForMemory = new Map<number, string[]>()
  readonly batchScheduling = new BatchScheduling((isBatch) => {
    for (const thread of this.cgroup.threads()) setBatchPolicy(thread, isBatch)
  })
  readonly #rootDir: string
  readonly #mounts: readonly CgroupMount[]
  readonly #memoryMiB: number | undefined
  readonly #guards: MemoryGuards
  #guard: MemoryGuard | undefined
  #isFrozen = false
  #isEnding = false
  #ranOut: boolean | undefined
  #sentry: Promise<Sentry> | undefined
  #cgroup: SandboxCgroup | undefined

  constructor(
    handle: SandboxHandle,
    rootDir: string,
    mounts: readonly CgroupMount[],
    guards = new MemoryGuards(),
    { program = '', runscName = '' } = {},
  ) {
    const { pid, startTime, memoryMiB } = handle.data
    this.#memoryMiB = typeof memoryMiB === 'number' ? memoryMiB : undefined
    this.#guards = guards
    this.id = sandboxId(handle.dockId, handle.generation)
    this.runscName = runscName || this.id
    this.process = typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : undefined
    this.program = program
    this.#rootDir = rootDir
    this.#mounts = mounts
  }

  get isAlive(): boolean {
    return this.process !== undefined && isAlive(this.process)
  }

  /** The sandbox's process. Throws SandboxGone if it is dead. */
  get running(): HostProcess {
    if (!this.process || !this.isAlive) throw new SandboxGone(`sandbox ${this.id} is gone`)
    return this.process
  }

  get cgroup(): SandboxCgroup {
    this.#cgroup ??= SandboxCgroup.ofProcess(this.#mounts, this.running.pid, this.runscName)
    return this.#cgroup
  }

  /**
   * Starts the memory guard, which kills processes inside before the sandbox itself dies. Calls `onEnded` with the name
   * of each killed process. Does nothing for a sandbox whose handle has no memory size (started before there was a
   * guard). Throws if the control group cannot be set up.
   */
  guardMemory(onEnded: (name: string) => void): void {
    if (this.#guard || this.#isEnding || this.#memoryMiB === undefined || !this.isAlive) return
    const { version, folder } = this.cgroup.memory()
    this.#guard = new MemoryGuard({
      group: memoryGroup(version, folder),
      memoryMiB: this.#memoryMiB,
      sentry: () => this.sentry(),
      onEnded: ({ name }, lineage) => {
        for (const pid of lineage) {
          const names = this.killedForMemory.get(pid)
          if (names && names.length < namesMax) names.push(name)
        }
        onEnded(name)
      },
      endSandbox: () => {
        if (this.process && this.isAlive) process.kill(this.process.pid, 'SIGKILL')
      },
    })
    if (this.#isFrozen) this.#guard.isFrozen = true
    this.#guards.add(this.#guard)
  }

  /** Resolves when `killedForMemory` is complete for the current round of kills; undefined if there is none. */
  get endingForMemory(): Promise<void> | undefined {
    return this.#guard?.ending
  }

  /** Tells the memory guard whether the sandbox is frozen. */
  set isFrozen(isFrozen: boolean) {
    this.#isFrozen = isFrozen
    if (this.#guard) this.#guard.isFrozen = isFrozen
  }

  /** True if the sandbox died because it ran out of memory, without an order to end. */
  get ranOutOfMemory(): boolean {
    this.#ranOut ??= this.isAlive ? undefined : this.#guard?.hasRunOut === true
    return this.#ranOut ?? false
  }

  sentry(): Promise<Sentry> {
    this.#sentry ??= this.#findSentry()
    this.#sentry.catch(() => {
      this.#sentry = undefined
    })
    return this.#sentry
  }

  /**
   * Resolves when the sandbox is dead. Its end closes a connection to its sentry. Without such a connection, the
   * process is polled.
   */
  async waitForDeath(): Promise<void> {
    while (this.isAlive) {
      const told = await this.sentry()
        .then((sentry) => sentry.ended())
        .then(
          () => true,
          () => false,
        )
      const deadline = performance.now() + (told ? dyingMs : 0)
      do await delay(told ? dyingPollMs : blindPollMs)
      while (this.isAlive && performance.now() < deadline)
    }
  }

  /**
   * Runs `work` with the sandbox. If it fails, throws SandboxGone if the sandbox is dead, SandboxShortOfMemory if it is
   * short of memory, otherwise the original error.
   */
  async use<Result>(work: () => Promise<Result>): Promise<Result> {
    void this.running
    try {
      return await work()
    } catch (error) {
      // The connection ends slightly before the process.
      const deadline = performance.now() + (error instanceof SentrySilent ? dyingMs : 0)
      while (this.isAlive && performance.now() < deadline) await delay(dyingPollMs)
      if (this.isAlive && this.#guard?.isShort && !(error instanceof ExecRefused))
        throw new SandboxShortOfMemory((error as Error).message, { cause: error })
      if (this.isAlive) throw error
      const { ranOutOfMemory } = this
      throw new SandboxGone((error as Error).message, { cause: error, ranOutOfMemory })
    }
  }

  /**
   * Stops the memory guard. Call it when the sandbox is ended by order: its death then does not count as out of memory.
   */
  closeGuard(): void {
    this.#isEnding = true
    this.#ranOut ??= this.ranOutOfMemory
    if (this.#guard) this.#guards.remove(this.#guard)
  }

  close(): void {
    this.closeGuard()
    this.batchScheduling.close()
    this.#sentry?.then(
      (sentry) => sentry.close(),
      () => undefined,
    )
  }

  async #findSentry(): Promise<Sentry> {
    const { controlSocket } = await readSandboxState(this.#rootDir, this.runscName)
    if (!controlSocket) throw new Error(`sandbox ${this.id} has no control socket`)
    return new Sentry(controlSocket, this.runscName)
  }
}
