/** Kills processes of a sandbox during a memory shortage, in rounds, until enough memory is free. */

import type { ListedProcess, MemoryDump, MemoryProcess } from '../sentry/dump-reader.ts'
import { SentryRefused } from '../sentry/sentry-connection.ts'
import { Crowd } from './crowd.ts'
import type { ProcessSizes } from './process-sizes.ts'
import { Victims } from './victims.ts'

const reduceEveryMs = 100
/** While the processes do not explain the used memory, only one victim is killed per this time. */
const unexplainedPauseMs = 150
const signalsAtOnce = 3
/** Reading a list takes about 1.5 µs per process. This pause bounds it to a fifth of the agent's time. */
const pauseMsPerProcess = 0.006

export type SandboxMemory = {
  memory(): Promise<MemoryDump>
  /** Lists processes without their sizes. Faster than `memory`, and safe at any time. */
  processes(): Promise<ListedProcess[]>
  signal(pid: number, signal: number): Promise<void>
  reduceMemory(): Promise<void>
}

export type ReliefParts = {
  sizes: ProcessSizes
  usedBytes(): number
  /** The Dock's memory. */
  memoryBytes: number
  /** The usage to reach. */
  targetBytes(): number
  /** Called for each killed process. `lineage` is its pid followed by the pids of its ancestors inside. */
  onEnded(victim: ListedProcess, lineage: readonly number[]): void
  /** Called with a promise for each batch of kills. */
  onEnding(batch: Promise<void>): void
  /** True if no further process may be killed: the sandbox is frozen or ends. */
  isStopped(): boolean
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

  /** True if rounds must continue even if memory is free again. */
  get isUnderWay(): boolean {
    return this.#victims.arePending || this.#crowd.isBomb
  }

  /** Minimum time until the next round. */
  get pauseMs(): number {
    return this.#listed * pauseMsPerProcess
  }

  /** Kills the processes that must go. Returns true if the next round should follow soon. */
  async round(sentry: SandboxMemory, { isShort, isStuck }: Moment): Promise<boolean> {
    const askedAtMs = performance.now()
    const listed = await sentry.processes()
    const now = performance.now()
    this.#listed = listed.length
    this.#victims.see(listed, now)
    if (!isShort && !this.#crowd.isBomb) return this.#victims.arePending
    const verdict = this.#crowd.see(this.#victims.left(listed), now, isStuck, now - askedAtMs)
    if (verdict === 'watch') return true
    if (verdict !== 'sizes') {
      await this.#end(sentry, withoutSizes(verdict), listed)
      return true
    }
    // gVisor release 20240729 panics if a process ends while its size is requested, so wait for victims to exit.
    if (!isShort || this.#victims.arePending || this.#victims.areDying(now)) return this.#victims.arePending
    if (this.#parts.sizes.areTooSoon) return false
    return this.#endLargest(sentry, listed)
  }

  async #endLargest(sentry: SandboxMemory, listed: readonly ListedProcess[]): Promise<boolean> {
    const { sizes, targetBytes, memoryBytes } = this.#parts
    const askedBytes = this.#parts.usedBytes()
    const { processes, isWhole } = await sizes.ask(sentry, this.#victims.left(listed), askedBytes)
    // A slow dump contains old sizes. Do not kill other processes for what the largest one has allocated since.
    const usedBytes = Math.min(askedBytes, this.#parts.usedBytes())
    if (usedBytes > targetBytes()) {
      const largestBytes = Math.max(...processes.map(({ pid, rssBytes }) => (pid === 1 ? 0 : rssBytes)))
      const bomb = this.#crowd.outweighing(this.#victims.left(listed), { memoryBytes, largestBytes })
      if (bomb.length > 0) {
        await this.#end(sentry, withoutSizes(bomb), listed)
        return true
      }
    }
    const chosen = this.#victims.choose(processes, { usedBytes, targetBytes: targetBytes() })
    // With estimated sizes, kill only one.
    const victims = isWhole ? chosen.victims : chosen.victims.slice(0, 1)
    await this.#end(sentry, victims, [...listed, ...processes])
    if (chosen.unexplained || !isWhole) await this.#reduce(sentry)
    this.#pauseBetween(chosen.unexplained)
    return victims.length > 0
  }

  /** Memory that the processes do not explain may belong to the sentry. */
  async #reduce(sentry: SandboxMemory): Promise<void> {
    const now = performance.now()
    if (now - this.#reducedAtMs <= reduceEveryMs) return
    this.#reducedAtMs = now
    // It only may help, and a starved sentry often does not answer it in time.
    await sentry.reduceMemory().catch(() => undefined)
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
      if (!victim || this.#parts.isStopped()) return
      this.#victims.ended(victim, performance.now())
      this.#crowd.ended(victim)
      // A refusal means that the process had already ended. Without an answer, assume that the sentry killed it.
      const wasThere = await sentry.signal(victim.pid, 9).then(
        () => true,
        (error: unknown) => {
          if (error instanceof SentryRefused) return false
          // Each further signal could wait as long. The next round continues with a new list.
          left.length = 0
          return true
        },
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
