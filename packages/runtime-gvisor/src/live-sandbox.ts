/** A sandbox as this driver holds it: its process on the host, and the ways to it, each found when it is first needed. */
import { setTimeout as delay } from 'node:timers/promises'
import { ExecRefused, SandboxGone, type SandboxHandle, SandboxShortOfMemory } from '@dock/runtime'
import { ExecMarks } from './exec-mark.ts'
import { FirstMoments } from './first-moments.ts'
import { type HostProcess, isAlive } from './host-process.ts'
import { memoryGroup } from './memory/memory-group.ts'
import { MemoryGuard } from './memory/memory-guard.ts'
import { MemoryGuards } from './memory/memory-guards.ts'
import { type CgroupMount, SandboxCgroup } from './sandbox-cgroup.ts'
import { sandboxId } from './sandbox-id.ts'
import { readSandboxState } from './sandbox-state.ts'
import { Sentry } from './sentry.ts'
import { SentrySilent } from './sentry-connection.ts'
import { setPatience } from './system-calls.ts'

/** Between the end of the connection and that of the process. */
const dyingMs = 5000
const dyingPollMs = 5
const blindPollMs = 250
/** Of the processes of one command that were ended; a fork bomb has thousands. */
const namesMax = 100

export class LiveSandbox {
  readonly id: string
  readonly process: HostProcess | undefined
  /** Tells the runsc that it runs on from others; empty when that is not known. */
  readonly program: string
  readonly marks = new ExecMarks()
  /** Marks of the commands that this process has under way in it. */
  readonly underWay = new Set<string>()
  /** For each command under way, by its process: names of its processes that the memory guard ended. */
  readonly endedForMemory = new Map<number, string[]>()
  readonly firstMoments = new FirstMoments((isPatient) => {
    for (const thread of this.cgroup.threads()) setPatience(thread, isPatient)
  })
  readonly #rootDir: string
  readonly #mounts: readonly CgroupMount[]
  readonly #memoryMiB: number | undefined
  readonly #guards: MemoryGuards
  #guard: MemoryGuard | undefined
  #ranOut: boolean | undefined
  #sentry: Promise<Sentry> | undefined
  #cgroup: SandboxCgroup | undefined

  constructor(
    handle: SandboxHandle,
    rootDir: string,
    mounts: readonly CgroupMount[],
    guards = new MemoryGuards(),
    program = '',
  ) {
    const { pid, startTime, memoryMiB } = handle.data
    this.#memoryMiB = typeof memoryMiB === 'number' ? memoryMiB : undefined
    this.#guards = guards
    this.id = sandboxId(handle.dockId, handle.generation)
    this.process = typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : undefined
    this.program = program
    this.#rootDir = rootDir
    this.#mounts = mounts
  }

  get isAlive(): boolean {
    return this.process !== undefined && isAlive(this.process)
  }

  /** Its process; throws SandboxGone when that is dead. */
  get running(): HostProcess {
    if (!this.process || !this.isAlive) throw new SandboxGone(`sandbox ${this.id} is gone`)
    return this.process
  }

  get cgroup(): SandboxCgroup {
    this.#cgroup ??= SandboxCgroup.ofProcess(this.#mounts, this.running.pid, this.id)
    return this.#cgroup
  }

  /**
   * Keeps it alive from now on when it runs out of memory; `onEnded` is told of each process that is ended for that. A
   * sandbox of an agent from before the guard stays the kernel's. Throws when its group cannot be taken over.
   */
  guardMemory(onEnded: (name: string) => void): void {
    if (this.#guard || this.#memoryMiB === undefined || !this.isAlive) return
    const { version, folder } = this.cgroup.memory()
    this.#guard = new MemoryGuard({
      group: memoryGroup(version, folder),
      memoryMiB: this.#memoryMiB,
      sentry: () => this.sentry(),
      onEnded: ({ name }, lineage) => {
        for (const pid of lineage) {
          const names = this.endedForMemory.get(pid)
          if (names && names.length < namesMax) names.push(name)
        }
        onEnded(name)
      },
      endSandbox: () => {
        if (this.process && this.isAlive) process.kill(this.process.pid, 'SIGKILL')
      },
    })
    this.#guards.add(this.#guard)
  }

  /** Resolves when `endedForMemory` holds all that are being ended at present; undefined when nothing is. */
  get endingForMemory(): Promise<void> | undefined {
    return this.#guard?.ending
  }

  /** Tells the memory guard whether the sandbox stands still. */
  set isFrozen(isFrozen: boolean) {
    if (this.#guard) this.#guard.isFrozen = isFrozen
  }

  /** Whether it died by itself for want of memory. */
  get ranOutOfMemory(): boolean {
    this.#ranOut ??= this.isAlive ? undefined : this.#guard?.ranOut === true
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
   * Resolves when it is dead. Its end closes a connection to its sentry: only where there is none the process is looked at
   * again and again.
   */
  async untilDead(): Promise<void> {
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

  /** Runs `work` with the sandbox. What fails is SandboxGone while it is dying, SandboxShortOfMemory while it is short. */
  async use<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    void this.running
    try {
      return await work()
    } catch (error) {
      // The connection ends a moment before the process does.
      const deadline = performance.now() + (error instanceof SentrySilent ? dyingMs : 0)
      while (this.isAlive && performance.now() < deadline) await delay(dyingPollMs)
      if (this.isAlive && this.#guard?.isShort && !(error instanceof ExecRefused))
        throw new SandboxShortOfMemory((error as Error).message, { cause: error })
      if (this.isAlive) throw error
      const { ranOutOfMemory } = this
      throw new SandboxGone((error as Error).message, { cause: error, ranOutOfMemory })
    }
  }

  /** Its end was ordered: its death is not for want of memory, and the kernel kills in it again. */
  closeGuard(): void {
    this.#ranOut ??= this.ranOutOfMemory
    if (this.#guard) this.#guards.remove(this.#guard)
  }

  close(): void {
    this.closeGuard()
    this.firstMoments.close()
    this.#sentry?.then(
      (sentry) => sentry.close(),
      () => undefined,
    )
  }

  async #findSentry(): Promise<Sentry> {
    const { controlSocket } = await readSandboxState(this.#rootDir, this.id)
    if (!controlSocket) throw new Error(`sandbox ${this.id} has no control socket`)
    return new Sentry(controlSocket, this.id)
  }
}
