/**
 * Watches what all sandboxes together use. At their common limit the kernel would end the largest process of any of them,
 * a neighbour's too. Before that, processes are ended in the sandbox that is furthest beyond its share.
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
}

export class SharedMemory {
  readonly #group: Pick<MemoryGroup, 'usedBytes'>
  readonly #triggerBytes: number
  readonly #onGivesWay: (usedBytes: number) => void

  /** `group` holds all sandboxes, and `limitBytes` is its limit. `onGivesWay` is told what all use when one has to. */
  constructor(
    group: Pick<MemoryGroup, 'usedBytes'>,
    limitBytes: number,
    onGivesWay: (usedBytes: number) => void,
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
    const sizes = sharers.reduce((sum, { memoryMiB }) => sum + memoryMiB, 0)
    const furthest = sharers
      .filter(({ isFrozen }) => !isFrozen)
      .map((sharer) => {
        const own = usedBy(sharer)
        const share = (this.#triggerBytes * sharer.memoryMiB) / sizes
        return { sharer, own, share }
      })
      .filter(({ own, share }) => own > share)
      .sort((one, other) => other.own - other.share - (one.own - one.share))[0]
    if (!furthest) return
    const { sharer, own, share } = furthest
    this.#onGivesWay(usedBytes)
    sharer.giveWay(Math.max(share, own - (usedBytes - this.#triggerBytes * (1 - slackShare))))
  }
}

const usedBy = (sharer: Sharer): number => {
  try {
    return sharer.usedBytes()
  } catch {
    return 0
  }
}
