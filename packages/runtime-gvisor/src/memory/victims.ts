/**
 * Chooses the processes to kill when a sandbox runs out of memory: the largest first, never process 1, and only as many
 * as needed. The kernel frees a victim's memory shortly after its end, so a victim stays pending until then.
 */

import type { ListedProcess, MemoryProcess } from '../sentry/dump-reader.ts'

/** The rate at which the kernel frees the memory of an ended process. */
const freedBytesPerMs = 4_000_000
const freedAtLeastMs = 10
/** A victim is no longer waited for after this time. */
const endingMsMax = 1_000
/** If more victims than this are still listed, they are exiting. Fewer may be zombies that their parent never reaps. */
const zombiesMax = 3
/** A victim that is listed for longer is a zombie. */
const dyingMsMax = 10_000
/** After this many victims with the same parent, the parent is killed too. */
const victimsOfOneParentMax = 4
/** If processes hold less than this share of the used memory, the rest is in the sentry (pipes, sockets, memfd). */
const explainedShareMin = 0.3

type Pending = { rssBytes: number; endedAtMs: number; goneAtMs: number | undefined }

export class Victims {
  readonly #pending = new Map<number, Pending>()
  readonly #ofParent = new Map<number, number>()
  /** The listed victims, and when each was killed. */
  readonly #ended = new Map<number, number>()
  #hasChosen = false

  /** Updates the pending victims from the current process list. */
  see(processes: readonly ListedProcess[], nowMs: number): void {
    const present = new Set(processes.map(({ pid }) => pid))
    // The pid may be reused by another process.
    for (const pid of this.#ended.keys()) if (!present.has(pid)) this.#ended.delete(pid)
    for (const [pid, victim] of this.#pending) {
      if (!present.has(pid)) victim.goneAtMs ??= nowMs
      const isFreed =
        victim.goneAtMs !== undefined &&
        nowMs - victim.goneAtMs > freedAtLeastMs + victim.rssBytes / freedBytesPerMs
      if (isFreed || nowMs - victim.endedAtMs > endingMsMax) this.#pending.delete(pid)
    }
  }

  get arePending(): boolean {
    return this.#pending.size > 0
  }

  /** True if many victims are still exiting, which takes longer than they are pending on a starved sandbox. */
  areDying(nowMs: number): boolean {
    return [...this.#ended.values()].filter((atMs) => nowMs - atMs < dyingMsMax).length > zombiesMax
  }

  /**
   * Returns the processes to kill so that `usedBytes` falls below `targetBytes`. `unexplained` is true if the processes
   * do not hold most of the memory. Then at most one victim is chosen until {@link chooseAgain}, because others may be
   * innocent.
   */
  choose(
    processes: readonly MemoryProcess[],
    { usedBytes, targetBytes }: { usedBytes: number; targetBytes: number },
  ): { victims: MemoryProcess[]; unexplained: boolean } {
    const resident = processes.reduce((sum, { rssBytes }) => sum + rssBytes, 0)
    const isExplained = resident >= usedBytes * explainedShareMin
    if (!isExplained && this.#hasChosen) return { victims: [], unexplained: true }
    const victims: MemoryProcess[] = []
    let excess = usedBytes - targetBytes
    const largestFirst = processes
      .filter(({ pid }) => pid !== 1)
      .sort((one, other) => other.rssBytes - one.rssBytes || other.pid - one.pid)
    for (const candidate of largestFirst) {
      if (excess <= 0 || (!isExplained && victims.length > 0)) break
      victims.push(candidate)
      excess -= candidate.rssBytes
    }
    return { victims: this.#withParents(victims, processes), unexplained: !isExplained }
  }

  /** Records a process as killed. */
  ended({ pid, rssBytes }: MemoryProcess, nowMs: number): void {
    this.#hasChosen = true
    this.#ended.set(pid, nowMs)
    this.#pending.set(pid, { rssBytes, endedAtMs: nowMs, goneAtMs: undefined })
  }

  /**
   * Returns the processes that were not killed yet. A killed one stays listed as a zombie until its parent reaps it.
   */
  left(processes: readonly ListedProcess[]): ListedProcess[] {
    return processes.filter(({ pid }) => !this.#ended.has(pid))
  }

  /** Allows another victim, because the last one did not free the unexplained memory. */
  chooseAgain(): void {
    this.#hasChosen = false
  }

  #withParents(victims: readonly MemoryProcess[], processes: readonly MemoryProcess[]): MemoryProcess[] {
    const doomed = new Map(victims.map((each) => [each.pid, each]))
    for (const { parentPid } of victims) {
      const count = (this.#ofParent.get(parentPid) ?? 0) + 1
      this.#ofParent.set(parentPid, count)
      const parent = processes.find(({ pid }) => pid === parentPid)
      if (parent && parentPid > 1 && count >= victimsOfOneParentMax) doomed.set(parentPid, parent)
    }
    return [...doomed.values()]
  }
}
