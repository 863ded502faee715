/** Ends processes of one sandbox during one shortage, round by round, until there is memory again. */
import { SentryRefused } from '../sentry-connection.ts'
import { Crowd } from './crowd.ts'
import type { MemoryDump } from './dump-reader.ts'
import type { ProcessSizes } from './process-sizes.ts'
import { type ListedProcess, type MemoryProcess, Victims } from './victims.ts'

const reduceEveryMs = 100
/** For memory that the processes do not explain, one victim after so long. */
const unexplainedPauseMs = 150
const signalsAtOnce = 3
/** Reading a list takes some 1.5 µs a process: with this pause it is a fifth of the agent's time at most. */
const pauseMsPerProcess = 0.006

export type SandboxMemory = {
  memory(): Promise<MemoryDump>
  /** Quicker, and safe at any time: without what each of them uses. */
  processes(): Promise<ListedProcess[]>
  signal(pid: number, signal: number): Promise<void>
  reduceMemory(): Promise<void>
}

export type ReliefParts = {
  sizes: ProcessSizes
  usedBytes(): number
  /** What it may use in the end. */
  targetBytes(): number
  /** Called for each process that was ended, with the numbers of its ancestors inside, the process itself first. */
  onEnded(victim: ListedProcess, lineage: readonly number[]): void
  /** Told of each batch that is being ended. */
  onEnding(batch: Promise<void>): void
}

export type Moment = { isShort: boolean; isStuck: boolean }

export class Relief {
  readonly #parts: ReliefParts
  readonly #victims = new Victims()
  readonly #crowd = new Crowd()
  #listed = 0
  #unexplainedSinceMs = Number.NaN
  #reducedAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: ReliefParts) {
    this.#parts = parts
  }

  /** Whether what it began has to go on, though memory may be there again. */
  get isUnderWay(): boolean {
    return this.#victims.arePending || this.#crowd.isBomb
  }

  /** Least time until the next round. */
  get pauseMs(): number {
    return this.#listed * pauseMsPerProcess
  }

  /** Ends whom it must. Returns whether the next round should follow soon. */
  async round(sentry: SandboxMemory, { isShort, isStuck }: Moment): Promise<boolean> {
    const listed = await sentry.processes()
    this.#listed = listed.length
    this.#victims.see(listed, performance.now())
    if (!isShort && !this.#crowd.isBomb) return this.#victims.arePending
    const verdict = this.#crowd.see(this.#victims.left(listed), performance.now(), isStuck)
    if (verdict === 'watch') return true
    if (verdict !== 'sizes') {
      await this.#end(sentry, withoutSizes(verdict), listed)
      return true
    }
    // The sentry panics when it is asked what a process uses that is just ending (release 20240729).
    if (!isShort || this.#victims.arePending) return this.#victims.arePending
    if (this.#parts.sizes.areTooSoon) return false
    return this.#endLargest(sentry, listed)
  }

  async #endLargest(sentry: SandboxMemory, listed: readonly ListedProcess[]): Promise<boolean> {
    const { sizes, targetBytes } = this.#parts
    const askedBytes = this.#parts.usedBytes()
    const { processes, isWhole } = await sizes.ask(sentry, listed, askedBytes)
    // A slow dump tells how large the hog was, not how large it is: what came since is not made up for by others.
    const usedBytes = Math.min(askedBytes, this.#parts.usedBytes())
    const chosen = this.#victims.choose(processes, { usedBytes, targetBytes: targetBytes() })
    const bomb = chosen.unexplained ? this.#crowd.unexplained(this.#victims.left(listed), usedBytes) : []
    // Estimates are good for one.
    const largest = isWhole ? chosen.victims : chosen.victims.slice(0, 1)
    const victims = bomb.length > 0 ? withoutSizes(bomb) : largest
    await this.#end(sentry, victims, processes)
    if (chosen.unexplained || !isWhole) await this.#reduce(sentry)
    this.#pauseBetween(chosen.unexplained)
    return victims.length > 0
  }

  /** What the processes do not explain may be the sentry's own. */
  async #reduce(sentry: SandboxMemory): Promise<void> {
    const now = performance.now()
    if (now - this.#reducedAtMs <= reduceEveryMs) return
    this.#reducedAtMs = now
    await sentry.reduceMemory()
  }

  #pauseBetween(isUnexplained: boolean): void {
    const now = performance.now()
    if (!isUnexplained) this.#unexplainedSinceMs = Number.NaN
    else if (!(now - this.#unexplainedSinceMs < unexplainedPauseMs)) {
      if (!Number.isNaN(this.#unexplainedSinceMs)) this.#victims.chooseAgain()
      this.#unexplainedSinceMs = now
    }
  }

  async #end(
    sentry: SandboxMemory,
    chosen: readonly MemoryProcess[],
    processes: readonly ListedProcess[],
  ): Promise<void> {
    const parents = new Map(processes.map(({ pid, parentPid }) => [pid, parentPid]))
    const left = [...chosen]
    const endNext = async (): Promise<void> => {
      const victim = left.shift()
      if (!victim) return
      this.#victims.ended(victim, performance.now())
      this.#crowd.ended(victim)
      // It may have ended by itself. A sentry that does not say so has ended it.
      const wasThere = await sentry.signal(victim.pid, 9).then(
        () => true,
        (error: unknown) => !(error instanceof SentryRefused),
      )
      if (!wasThere) return endNext()
      const lineage: number[] = []
      for (let pid: number | undefined = victim.pid; pid && !lineage.includes(pid); pid = parents.get(pid))
        lineage.push(pid)
      this.#parts.onEnded(victim, lineage)
      return endNext()
    }
    const ending = Promise.all(Array.from({ length: signalsAtOnce }, endNext)).then(() => undefined)
    this.#parts.onEnding(ending)
    await ending
  }
}

const withoutSizes = (processes: readonly ListedProcess[]): MemoryProcess[] =>
  processes.map((each) => ({ ...each, rssBytes: 0 }))
