/**
 * Watches what all sandboxes together use. At their common limit the kernel would end the largest process of any of them,
 * a neighbour's too. Before that, processes are ended in the sandbox that is furthest beyond its share. One that frees
 * nothing by that ends as a whole: what it holds is in no process (files in memory), or it cannot be looked into.
 */
import type { MemoryGroup } from './memory-group.ts'

const mebibyte = 2 ** 20
/** What is left below the limit when one has to give way: the kernel decides at the limit itself. */
const marginShare = 1 / 32
const [marginBytesMin, marginBytesMax] = [128 * mebibyte, 512 * mebibyte]
/** Beyond this share of what it acts at, it looks as often as it can. */
const hotShare = 0.8
/** It gives way by so much more than it must, or the next look would ask again. */
const slackShare = 1 / 64
/** Who has freed less than this share of what was asked has not given way. */
const freedShareMin = 0.1
/** A demand of longer ago says nothing of the present shortage. */
const demandMs = 10_000

/** One of those that share. */
export type Sharer = {
  readonly memoryMiB: number
  /** It stands still: its processes cannot be ended. */
  readonly isFrozen: boolean
  readonly isGivingWay: boolean
  /** Throws when it is gone. */
  usedBytes(): number
  /** Ends processes until it uses no more than that. */
  giveWay(toBytes: number): void
  /** Ends the sandbox. */
  end(): void
}

/** What the last to give way was asked for. */
type Demand = { sharer: Sharer; fromBytes: number; toBytes: number; atMs: number }

export class SharedMemory {
  readonly #group: Pick<MemoryGroup, 'usedBytes'>
  readonly #triggerBytes: number
  readonly #onGivesWay: (usedBytes: number, ends: boolean) => void
  #last: Demand | undefined

  /** `group` holds all sandboxes, and `limitBytes` is its limit. `onGivesWay` is told what all use when one has to, and whether it ends. */
  constructor(
    group: Pick<MemoryGroup, 'usedBytes'>,
    limitBytes: number,
    onGivesWay: (usedBytes: number, ends: boolean) => void,
  ) {
    this.#group = group
    this.#onGivesWay = onGivesWay
    this.#triggerBytes =
      limitBytes - Math.min(marginBytesMax, Math.max(marginBytesMin, limitBytes * marginShare))
  }

  /** Looks once, and makes one give way if it must. The result tells whether to look again soon. */
  look(sharers: Iterable<Sharer>): boolean {
    try {
      const usedBytes = this.#group.usedBytes()
      if (usedBytes > this.#triggerBytes) this.#relieve([...sharers], usedBytes)
      return usedBytes > this.#triggerBytes * hotShare
    } catch {
      return false
    }
  }

  #relieve(sharers: readonly Sharer[], usedBytes: number): void {
    if (sharers.some(({ isGivingWay }) => isGivingWay)) return
    // Who stands still keeps what it has: the others share the rest.
    const running = sharers.filter(({ isFrozen }) => !isFrozen)
    const frozenBytes = sharers
      .filter(({ isFrozen }) => isFrozen)
      .reduce((sum, sharer) => sum + usedBy(sharer), 0)
    const sharedBytes = Math.max(0, this.#triggerBytes - frozenBytes)
    const sizes = running.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0)
    const furthest = running
      .map((sharer) => {
        const own = usedBy(sharer)
        const share = (sharedBytes * sharer.memoryMiB) / sizes
        return { sharer, own, share }
      })
      .filter(({ own, share }) => own > share)
      .sort((one, other) => other.own - other.share - (one.own - one.share))[0]
    if (!furthest) return
    const { sharer, own, share } = furthest
    const ends = this.#hasNotGivenWay(sharer, own)
    this.#onGivesWay(usedBytes, ends)
    if (ends) {
      this.#last = undefined
      sharer.end()
      return
    }
    // All used is too much by this; nobody gives up its share for it.
    const excess = usedBytes - this.#triggerBytes * (1 - slackShare)
    const toBytes = Math.max(share, own - excess)
    this.#last = { sharer, fromBytes: own, toBytes, atMs: performance.now() }
    sharer.giveWay(toBytes)
  }

  #hasNotGivenWay(sharer: Sharer, own: number): boolean {
    const last = this.#last
    if (last?.sharer !== sharer || performance.now() - last.atMs > demandMs) return false
    return own > last.fromBytes - (last.fromBytes - last.toBytes) * freedShareMin
  }
}

const usedBy = (sharer: Sharer): number => {
  try {
    return sharer.usedBytes()
  } catch {
    return 0
  }
}
