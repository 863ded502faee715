/**
 * Which processes are ended when a sandbox runs out of memory: the largest first, never process 1, and no more than
 * their memory explains. A victim's memory comes back a moment after its end, so victims stay pending for that long.
 */

/** A process as the sentry lists it. */
export type ListedProcess = { pid: number; parentPid: number; name: string }
export type MemoryProcess = ListedProcess & { rssBytes: number }

/** What the kernel takes back in a second when a process ended. */
const freedBytesPerMs = 4_000_000
const freedAtLeastMs = 10
/** A victim that is still there after so long does not end. */
const endingMsMax = 1_000
/** So many victims of one parent are the work of that parent. */
const victimsOfOneParentMax = 4
/** Below this share of what is used, the processes do not explain it: it is the sentry's own (pipes, sockets, memfd). */
const explainedShareMin = 0.3

type Pending = { rssBytes: number; endedAtMs: number; goneAtMs: number | undefined }

export class Victims {
  readonly #pending = new Map<number, Pending>()
  readonly #ofParent = new Map<number, number>()
  readonly #ended = new Set<number>()
  #hasChosen = false

  /** Takes the present list into account: whose memory is still to come back. */
  see(processes: readonly ListedProcess[], nowMs: number): void {
    const present = new Set(processes.map(({ pid }) => pid))
    // Its number may be given to another process.
    for (const pid of this.#ended) if (!present.has(pid)) this.#ended.delete(pid)
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

  /**
   * The processes to end so that `usedBytes` falls below `targetBytes`. `unexplained` says that the memory is not the
   * processes' own, and that one was ended already: more victims would be bystanders.
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

  /** Counts a process as ended. */
  ended({ pid, rssBytes }: MemoryProcess, nowMs: number): void {
    this.#hasChosen = true
    this.#ended.add(pid)
    this.#pending.set(pid, { rssBytes, endedAtMs: nowMs, goneAtMs: undefined })
  }

  /** Those of `processes` that were not ended yet. One whose parent does not ask for its end stays listed. */
  left(processes: readonly ListedProcess[]): ListedProcess[] {
    return processes.filter(({ pid }) => !this.#ended.has(pid))
  }

  /** The memory that nobody explained did not come back: one more victim may be chosen. */
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
