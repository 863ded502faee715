/** The budget of one Dock's kept output, and its part of the host's budget. */
import { HostBudget } from './host-budget.ts'
import type { KeeperSettings } from './keeper-settings.ts'

/** A part of a stream: the bytes from `start` to `end`. `path` is its file. */
export type Segment = { path: string; start: number; end: number; order: number }

/** What the budget knows of a stream. */
export type BudgetedStream = {
  readonly bytes: number
  readonly segments: readonly Segment[]
  readonly droppable: readonly Segment[]
  isHeld(segment: Segment): boolean
  closeSegment(segment: Segment): Promise<void>
  drop(segment: Segment, waits?: boolean): Promise<void>
}

/** The budget that the streams of one Dock share. */
export class DockBudget {
  readonly streams = new Set<BudgetedStream>()
  readonly settings: KeeperSettings
  readonly host: HostBudget
  /** The organization that the Dock belongs to, or the Dock if that is not known. */
  owner: string
  readers = 0
  /** What the files of all streams take of the disk. */
  stored = 0
  #order = 0

  constructor(settings: KeeperSettings, host = new HostBudget(settings.hostBytesMax), owner = '') {
    this.settings = settings
    this.host = host
    this.owner = owner
    host.docks.add(this)
  }

  /** Notes that a stream stores more, or less. */
  noteStored(bytes: number): void {
    this.stored += bytes
    this.host.stored += bytes
  }

  /**
   * Drops the oldest segment, also one that is being written if there is no other. With `waits`, readers that need it may
   * hold it; otherwise they are cut off.
   */
  async dropOldest(waits: boolean): Promise<void> {
    const byAge = (whole: boolean) =>
      [...this.streams]
        .flatMap((stream) =>
          (whole ? stream.droppable : stream.segments).map((segment) => ({ stream, segment })),
        )
        .toSorted((one, other) => one.segment.order - other.segment.order)
    const whole = byAge(true)
    const victim = whole.find(({ stream, segment }) => !stream.isHeld(segment)) ?? whole[0] ?? byAge(false)[0]
    // What is stored but has no segment yet is being written at this moment.
    if (!victim) return new Promise((resolve) => setImmediate(resolve))
    await victim.stream.closeSegment(victim.segment)
    await victim.stream.drop(victim.segment, waits)
  }

  /** Bytes of all streams. A segment that is being written counts as full. */
  get bytes(): number {
    let bytes = 0
    for (const stream of this.streams) bytes += stream.bytes
    return bytes
  }

  /** Returns a number that is higher than that of every older segment. */
  nextOrder(): number {
    this.#order += 1
    return this.#order
  }

  /**
   * Drops segments of all streams, oldest first, until one more segment fits, and calls `take`. Waits for readers that
   * need a segment.
   */
  async makeRoom(take: () => void): Promise<void> {
    const { dockBytesMax, segmentBytes } = this.settings
    while (this.bytes + segmentBytes > dockBytesMax) {
      const oldest = [...this.streams]
        .flatMap((stream) => stream.droppable.map((segment) => ({ stream, segment })))
        .toSorted((one, other) => one.segment.order - other.segment.order)
      const victim = oldest.find(({ stream, segment }) => !stream.isHeld(segment)) ?? oldest[0]
      if (!victim) break
      await victim.stream.drop(victim.segment)
    }
    take()
  }
}
