/**
 * A running machine with the link to its agent. The session connects again when the connection breaks, and kills the machine
 * when the guest violates the protocol.
 */
import { type Logger, systemClock, waitAtMost } from '@dock/foundation'
import { ExecRefused, SandboxGone, signalNumbers } from '@dock/runtime'
import {
  type GuestLink,
  type GuestProgram,
  GuestRefused,
  GuestViolation,
  LastingLink,
  LinkBroken,
  type OpenRequest,
} from '../link/index.ts'
import type { Machine } from '../machine/machine.ts'

/** The guest stops writing to its disk for at most this time before it goes on by itself. Its clock stands still when it is paused. */
const diskFreezeMs = 10_000
/** How long a freeze waits for the guest to write what it has in memory. */
const quietMs = 5_000
/** How long a running guest may take for an answer. Root inside can stop the guest's agent, and nothing may wait for that. */
const answerMs = 30_000

/** The guest runs, but did not answer in time. */
export class GuestSilent extends Error {
  override readonly name = 'GuestSilent'
}

/** A process of the guest was killed because memory ran out. */
export type GuestOutOfMemory = { process: string }

export class GuestSession {
  readonly machine: Machine
  /** Resolves when the machine has ended. */
  readonly ended: Promise<void>
  /** Programs whose streams this process reads and writes. */
  readonly owned = new Set<number>()
  onOutOfMemory: (event: GuestOutOfMemory) => void = () => undefined
  readonly #logger: Logger
  readonly #link: LastingLink
  #isPaused = false
  #diskIsFrozen = false

  constructor(machine: Machine, logger: Logger) {
    this.machine = machine
    this.#logger = logger
    this.#link = new LastingLink({
      dial: () => machine.dial(0),
      onLog: (line) => logger.info({ machine: machine.id, line }, 'the agent of a guest says'),
      onOutOfMemory: ({ name }) => this.onOutOfMemory({ process: name }),
      onViolation: (error) => void this.#violated(error),
    })
    this.ended = machine.ended.then(() => this.#link.end())
  }

  get isAlive(): boolean {
    return !this.#link.isOver
  }

  /** As {@link LastingLink.ask}. Throws SandboxGone if the machine is dead, and GuestSilent. */
  async ask<Result>(work: (link: GuestLink) => Promise<Result> | Result, ms = answerMs): Promise<Result> {
    const asked = this.follow(this.#link.ask(work))
    for (;;) {
      const answer = await waitAtMost(systemClock, ms, asked)
      if (answer !== 'late') return answer
      // A paused machine answers when it runs again.
      if (!this.#isPaused) throw this.#silent()
    }
  }

  /** Starts a program. Throws as {@link ask}, also when `signal` aborts. A program that starts after that is killed. */
  async open(request: OpenRequest, ms = answerMs, signal?: AbortSignal): Promise<GuestProgram> {
    let id = 0
    const opening = this.follow(this.#link.ask((link) => link.open(request, (chosen) => (id = chosen))))
    const { promise: unwanted, resolve } = Promise.withResolvers<'late'>()
    const leave = (): void => resolve('late')
    signal?.addEventListener('abort', leave)
    if (signal?.aborted) leave()
    try {
      const program = await waitAtMost(systemClock, ms, Promise.race([opening, unwanted]))
      if (program !== 'late') return program
    } finally {
      signal?.removeEventListener('abort', leave)
    }
    // Its folder or its file may be on a filesystem that does not answer.
    const kill = this.ask((link) => link.signal(id, signalNumbers.KILL, 'tree'))
    kill.catch(() => undefined)
    opening.then((program) => this.#discard(program)).catch(() => undefined)
    throw this.#silent()
  }

  /** Returns the result of what depends on the machine. Throws SandboxGone if the machine died. */
  async follow<Result>(result: Promise<Result>): Promise<Result> {
    try {
      return await result
    } catch (error) {
      if (error instanceof GuestViolation || error instanceof LinkBroken) await this.ended
      throw this.isAlive ? error : this.#gone(error)
    }
  }

  /** Pauses the machine with a disk that is consistent, if the guest answers in time. Idempotent. */
  async freeze(): Promise<boolean> {
    if (!this.#isPaused) {
      let isLate = false
      // Most of what is in memory is written before anything has to wait for it.
      const freezing = this.ask(async (link) => {
        await link.sync()
        // Sent after the pause, it would stop the disk after the thaw.
        if (!isLate) await link.freezeDisk(diskFreezeMs)
      }).then(
        () => !isLate,
        () => false,
      )
      const isFrozen = await waitAtMost(systemClock, quietMs, freezing)
      isLate = isFrozen === 'late'
      this.#diskIsFrozen = isFrozen === true
    }
    await this.machine.pause()
    this.#isPaused = true
    return this.#diskIsFrozen
  }

  /** Idempotent. */
  async thaw(): Promise<void> {
    await this.machine.resume()
    this.#isPaused = false
    this.#diskIsFrozen = false
    const telling = this.ask(async (link) => {
      const clock = link.setClock(BigInt(Date.now()) * 1_000_000n)
      // It fails if the disk was not frozen, or the guest's own time for it was over. A freeze that came late is over too.
      await Promise.all([clock, link.thawDisk().catch(() => undefined)])
    })
    // The guest hears in order: it knows the time before it starts a program, however late that is.
    if ((await waitAtMost(systemClock, quietMs, telling)) === 'late')
      this.#logger.warn({ machine: this.machine.id }, 'a guest does not answer after it was thawed')
  }

  async #discard(program: GuestProgram): Promise<void> {
    await this.ask((link) => link.signal(program.id, signalNumbers.KILL, 'tree'))
    await program.close()
  }

  #silent(): GuestSilent {
    return new GuestSilent(`machine ${this.machine.id} does not answer`)
  }

  #gone(cause: unknown): SandboxGone {
    const { id, ranOutOfMemory } = this.machine
    return new SandboxGone(`machine ${id} is gone`, { cause, ranOutOfMemory })
  }

  async #violated(error: GuestViolation): Promise<void> {
    this.#logger.warn(
      { err: error, machine: this.machine.id },
      'a guest broke the protocol; ending its machine',
    )
    await this.machine
      .kill()
      .catch((cause: unknown) =>
        this.#logger.error({ err: cause, machine: this.machine.id }, 'could not end a machine'),
      )
  }
}

/** Returns the error as callers of the driver expect it. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof GuestRefused) return new ExecRefused(error.message || error.reason)
  // The request is larger than a guest takes.
  if (error instanceof RangeError) return new ExecRefused(error.message)
  return error
}
