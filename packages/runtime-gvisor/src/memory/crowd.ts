/**
 * Tells a fork bomb from a Dock that merely has many processes. A bomb's processes are small and many: ending the largest
 * does not stop it. So all of its name go, to the last, but for commands from outside; nobody else does.
 */
import type { ListedProcess } from './victims.ts'

/** A Dock with no more processes than this has no bomb. */
const processesMax = 150
/** So many of one name are a bomb's, if they became so many more while memory was short. */
const bombMin = 20
/** For so long a changing crowd is watched before sizes are asked for, and one that grows. */
const [watchMs, growingWatchMs] = [200, 1_000]
/** A name that became so many more grows, and one of which so many are new comes and goes. */
const growingMin = 3
/** A name that comes and goes, and that more than this share of all have, is a bomb that has no room to grow. */
const crowdShareMin = 0.5
/** What the host spends on a process that uses nothing itself. */
const costBytes = 2 ** 19
/** So much of what is used, a bomb's processes explain by their number. */
const costShareMin = 0.5

/** `sizes`: whoever is largest should go. `watch`: not known yet. Or the processes of a bomb. */
export type Verdict = 'sizes' | 'watch' | ListedProcess[]

export class Crowd {
  /** Of the bomb that is being ended. */
  #bombName: string | undefined
  #begin: { atMs: number; pids: Set<number>; counts: Map<string, number> } | undefined
  #last = new Set<number>()
  readonly #ended = new Map<string, number>()

  get isBomb(): boolean {
    return this.#bombName !== undefined
  }

  /**
   * Looks at those that were not ended yet. `isStuck` says that there is no time to watch on. Sizes are not asked for
   * while the crowd changes, if that can be: release 20240729 panics when a process ends under its dump.
   */
  see(processes: readonly ListedProcess[], nowMs: number, isStuck: boolean): Verdict {
    const byName = namesOf(processes)
    if (this.#bombName !== undefined) {
      const bomb = byName.get(this.#bombName) ?? []
      if (bomb.length > 0) return bomb
      this.#bombName = undefined
      this.#begin = undefined
    }
    const hasChanged = this.#remember(processes)
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
    if (!hasChanged && growing === undefined) return 'sizes'
    const isOver = nowMs - this.#begin.atMs >= (growing === undefined ? watchMs : growingWatchMs)
    if (!isOver && !isStuck) return 'watch'
    // It is too late to watch on, and not safe to ask for sizes.
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

  /** The bomb among processes whose sizes do not explain what is used, where their number does. */
  unexplained(processes: readonly ListedProcess[], usedBytes: number): ListedProcess[] {
    const byName = namesOf(processes)
    for (const [name, { length }] of byName)
      if (processes.length > processesMax && length * costBytes >= usedBytes * costShareMin)
        return this.#met(name, byName)
    return []
  }

  /** Counts one that the guard ended: others may have taken its place. */
  ended({ name }: ListedProcess): void {
    this.#ended.set(name, (this.#ended.get(name) ?? 0) + 1)
  }

  #met(name: string, byName: ReadonlyMap<string, ListedProcess[]>): ListedProcess[] {
    this.#bombName = name
    return byName.get(name) ?? []
  }

  /** Returns whether any came or went since the last look. */
  #remember(processes: readonly ListedProcess[]): boolean {
    const last = this.#last
    this.#last = new Set(processes.map(({ pid }) => pid))
    return this.#last.size !== last.size || processes.some(({ pid }) => !last.has(pid))
  }
}

/** Without commands from outside. */
const namesOf = (processes: readonly ListedProcess[]): Map<string, ListedProcess[]> =>
  Map.groupBy(
    processes.filter(({ parentPid, pid }) => parentPid > 0 && pid !== 1),
    ({ name }) => name,
  )
