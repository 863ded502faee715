/** A sandbox as this driver holds it: its process on the host, and the ways to it, each found when it is first needed. */
import { setTimeout as delay } from 'node:timers/promises'
import { SandboxGone, type SandboxHandle } from '@dock/runtime'
import { ExecMarks } from './exec-mark.ts'
import { FirstMoments } from './first-moments.ts'
import { type HostProcess, isAlive } from './host-process.ts'
import { type CgroupMount, SandboxCgroup } from './sandbox-cgroup.ts'
import { sandboxId } from './sandbox-id.ts'
import { readSandboxState } from './sandbox-state.ts'
import { Sentry } from './sentry.ts'
import { setPatience } from './system-calls.ts'

/** Between the end of the connection and that of the process. */
const dyingMs = 5000
const dyingPollMs = 5
const blindPollMs = 250

export class LiveSandbox {
  readonly id: string
  readonly process: HostProcess | undefined
  readonly marks = new ExecMarks()
  /** Marks of the commands that this process has under way in it. */
  readonly underWay = new Set<string>()
  readonly firstMoments = new FirstMoments((isPatient) => {
    for (const thread of this.cgroup.threads()) setPatience(thread, isPatient)
  })
  readonly #rootDir: string
  readonly #mounts: readonly CgroupMount[]
  #sentry: Promise<Sentry> | undefined
  #cgroup: SandboxCgroup | undefined

  constructor(handle: SandboxHandle, rootDir: string, mounts: readonly CgroupMount[]) {
    const { pid, startTime } = handle.data
    this.id = sandboxId(handle.dockId, handle.generation)
    this.process = typeof pid === 'number' && typeof startTime === 'string' ? { pid, startTime } : undefined
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

  /** Runs `work` with the sandbox; whatever fails while it is dying is SandboxGone. */
  async use<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    void this.running
    try {
      return await work()
    } catch (error) {
      if (this.isAlive) throw error
      throw new SandboxGone((error as Error).message, { cause: error })
    }
  }

  close(): void {
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
