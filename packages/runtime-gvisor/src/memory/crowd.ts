/**
 * Distinguishes a fork bomb from a Dock that merely has many processes. The processes of a bomb are small and many, so
 * killing the largest does not stop it. Therefore every process with the bomb's name is killed, except commands started
 * from outside, and no other process.
 */
import type { ListedProcess } from '../sentry/dump-reader.ts'

/** With at most this many processes, a Dock has no bomb. */
const processesMax = 150
/** A name is a bomb if its processes increased by this many while memory was short. */
const bombMin = 20
/** How long a changing set of processes, and a growing one, is watched before sizes are requested. */
const [watchMs, growingWatchMs] = [200, 1_000]
/** A slow machine also runs a bomb slowly. There, the watch is longer by the time of a list, in units of this. */
const fastListMs = 5
const watchesMax = 10
/** A set of processes counts as unchanged after the time of so many lists. */
const quietLists = 20
const quietMsMax = 1_000
/** A name is growing if it has this many more processes, and churning if it has this many new ones. */
const growingMin = 3
/** A churning name with more than this share of all processes is a bomb that has no room to grow. */
const crowdShareMin = 0.5
/** Host memory used by a process that uses no memory itself. */
const costBytes = 2 ** 19
/**
 * The share of a Dock's memory that the number of a bomb's processes must explain. In a Dock of up to 8 GiB, that is nine
 * of ten processes that its users may have.
 */
const costShareMin = 0.45

/** `sizes`: kill the largest process. `watch`: not decided yet. A list: kill these processes of a bomb. */
export type Verdict = 'sizes' | 'watch' | ListedProcess[]

export class Crowd {
  /** The name of the bomb that is being killed. */
  #bombName: string | undefined
  #begin: { atMs: number; pids: Set<number>; counts: Map<string, number> } | undefined
  #last = new Set<number>()
  #changedAtMs = 0
  readonly #ended = new Map<string, number>()

  get isBomb(): boolean {
    return this.#bombName !== undefined
  }

  /**
   * Judges the processes that were not killed yet, whose list took `listMs`. With `isStuck`, there is little time to
   * watch. Avoids `sizes` while the set of processes changes, because gVisor release 20240729 panics if a process ends
   * during its dump.
   */
  see(processes: readonly ListedProcess[], nowMs: number, isStuck: boolean, listMs = 0): Verdict {
    const byName = namesOf(processes)
    if (this.#bombName !== undefined) {
      const bomb = byName.get(this.#bombName) ?? []
      if (bomb.length > 0) return bomb
      this.#bombName = undefined
      this.#begin = undefined
    }
    const hasChanged = this.#remember(processes)
    if (hasChanged) this.#changedAtMs = nowMs
    if (processes.length <= processesMax) {
      this.#begin = undefined
      return 'sizes'
    }
    if (!this.#begin) {
      const counts = new Map([...byName].map(([name, { length }]) => [name, length]))
      this.#begin = { atMs: nowMs, pids: new Set(processes.map(({ pid }) => pid)), counts }
      this.#ended.clear()
      return 'watch'
    }
    let growing: string | undefined
    for (const [name, { length }] of byName) {
      const grownBy = length + (this.#ended.get(name) ?? 0) - (this.#begin.counts.get(name) ?? 0)
      if (grownBy >= bombMin) return this.#met(name, byName)
      if (grownBy >= growingMin) growing = name
    }
    const isQuiet = nowMs - this.#changedAtMs >= Math.min(quietMsMax, quietLists * listMs)
    if (!hasChanged && isQuiet && growing === undefined) return 'sizes'
    const watches = Math.min(watchesMax, Math.max(1, listMs / fastListMs))
    const isOver = nowMs - this.#begin.atMs >= watches * (growing === undefined ? watchMs : growingWatchMs)
    const isCut = isStuck && (growing !== undefined || !hasChanged)
    if (!isOver && !isCut) return 'watch'
    // There is no time left to watch, and requesting sizes is not safe.
    const suspect = growing ?? this.#churning(processes, byName, this.#begin.pids)
    return suspect === undefined ? 'sizes' : this.#met(suspect, byName)
  }

  #churning(
    processes: readonly ListedProcess[],
    byName: ReadonlyMap<string, ListedProcess[]>,
    known: ReadonlySet<number>,
  ): string | undefined {
    for (const [name, all] of byName) {
      const newcomers = all.filter(({ pid }) => !known.has(pid)).length
      if (newcomers >= growingMin && all.length > processes.length * crowdShareMin) return name
    }
    return undefined
  }

  /**
   * Returns the processes of a bomb that stopped growing, which is at the limit on processes: their number explains much
   * of the Dock's memory, and together they cost more than the largest process. Otherwise []. Their own sizes do not tell,
   * because they count shared memory in each process.
   */
  outweighing(
    processes: readonly ListedProcess[],
    { memoryBytes, largestBytes }: { memoryBytes: number; largestBytes: number },
  ): ListedProcess[] {
    const byName = namesOf(processes)
    const [name, crowd] = [...byName].reduce(
      (most, each) => (each[1].length > most[1].length ? each : most),
      ['', []] as [string, ListedProcess[]],
    )
    const cost = crowd.length * costBytes
    const isBomb = cost >= memoryBytes * costShareMin && cost > largestBytes
    return isBomb && processes.length > processesMax ? this.#met(name, byName) : []
  }

  /** Counts a process that the guard killed, because a bomb may have replaced it. */
  ended({ name }: ListedProcess): void {
    this.#ended.set(name, (this.#ended.get(name) ?? 0) + 1)
  }

  #met(name: string, byName: ReadonlyMap<string, ListedProcess[]>): ListedProcess[] {
    this.#bombName = name
    return byName.get(name) ?? []
  }

  /** Returns true if any process started or ended since the last call. */
  #remember(processes: readonly ListedProcess[]): boolean {
    const last = this.#last
    this.#last = new Set(processes.map(({ pid }) => pid))
    return this.#last.size !== last.size || processes.some(({ pid }) => !last.has(pid))
  }
}

/** Groups processes by name, without process 1 and commands started from outside. */
const namesOf = (processes: readonly ListedProcess[]): Map<string, ListedProcess[]> =>
  Map.groupBy(
    processes.filter(({ parentPid, pid }) => parentPid > 0 && pid !== 1),
    ({ name }) => name,
  )
