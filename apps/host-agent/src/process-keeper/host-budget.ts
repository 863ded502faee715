/**
 * The budget of all kept output of a host, which lies beside the database. Docks of one organization share that
 * organization's part of it. If the budget is used up, the organization that has most loses its oldest output, so one that
 * keeps little loses nothing.
 */
/** Files take at least this much of a disk. */
const blockBytes = 4096

/** Returns how much of a disk a file of this size takes. */
export function storedBytes(size: number): number {
  return Math.max(1, Math.ceil(size / blockBytes)) * blockBytes
}

/** What a Dock stores, and how it stores less. */
export type DockShare = {
  readonly owner: string
  readonly stored: number
  dropOldest(waits: boolean): Promise<void>
}

export class HostBudget {
  readonly docks = new Set<DockShare>()
  readonly #bytesMax: number
  /** What all Docks store. Each stream adds and subtracts its part. */
  stored = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /**
   * Drops output until `bytes` more fit, and calls `take`. Waits only for readers of the own organization: those of others
   * are cut off.
   */
  async makeRoom(by: DockShare, bytes: number, take: () => void): Promise<void> {
    while (this.stored + bytes > this.#bytesMax) {
      const dock = this.#largestDock()
      if (!dock) break
      await dock.dropOldest(dock.owner === by.owner)
    }
    take()
  }

  /** The Dock that has most, of the organization that has most. */
  #largestDock(): DockShare | undefined {
    const byOwner = new Map<string, number>()
    for (const { owner, stored } of this.docks) byOwner.set(owner, (byOwner.get(owner) ?? 0) + stored)
    let largest: DockShare | undefined
    for (const dock of this.docks) {
      if (dock.stored === 0) continue
      const more = largest ? byOwner.get(dock.owner)! - byOwner.get(largest.owner)! : 1
      if (more > 0 || (more === 0 && dock.stored > largest!.stored)) largest = dock
    }
    return largest
  }
}
