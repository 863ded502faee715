/**
 * Watches the total memory of all sandboxes. At their common limit, the kernel would kill the largest process of any
 * sandbox, even one within its share. Before that, processes are killed in the sandbox furthest above its share. If
 * that frees nothing, the whole sandbox is ended: its memory is not held by processes (files in memory), or its sentry
 * does not respond.
 */
import type { MemoryGroup } from './memory-group.ts'

const mebibyte = 2 ** 20
/** Distance below the limit at which a sandbox must free memory. At the limit itself, the kernel kills. */
const marginShare = 1 / 32
const [marginBytesMin, marginBytesMax] = [128 * mebibyte, 512 * mebibyte]
/** Above this share of the trigger, the total is checked as often as possible. */
const hotShare = 0.8
/** A sandbox must free this much more than necessary, otherwise the next check would trigger again. */
const slackShare = 1 / 64
/** A sandbox that freed less than this share of the demand counts as having freed nothing. */
const freedShareMin = 0.1
/** An older demand does not belong to the current shortage. */
const demandMs = 10_000

/** A sandbox that shares the total memory. */
export type Sharer = {
  readonly memoryMiB: number
  /** The processes of a frozen sandbox cannot be killed. */
  readonly isFrozen: boolean
  readonly isReducingMemory: boolean
  /** Throws if the sandbox is gone. */
  usedBytes(): number
  /** Kills processes until the sandbox uses at most `toBytes`. */
  reduceMemoryTo(toBytes: number): void
  /** Ends the sandbox. */
  end(): void
}

/** The last demand to free memory. */
type Demand = { sharer: Sharer; fromBytes: number; toBytes: number; atMs: number }

export class SharedMemory {
  readonly #group: Pick<MemoryGroup, 'usedBytes'>
  readonly #triggerBytes: number
  readonly #onReduction: (usedBytes: number, ends: boolean) => void
  #last: Demand | undefined

  /**
   * `group` is the parent of all sandboxes, `limitBytes` its limit. `onReduction` is called when a sandbox must free
   * memory, with the total usage and whether the sandbox is ended.
   */
  constructor(
    group: Pick<MemoryGroup, 'usedBytes'>,
    limitBytes: number,
    onReduction: (usedBytes: number, ends: boolean) => void,
  ) {
    this.#group = group
    this.#onReduction = onReduction
    this.#triggerBytes =
      limitBytes - Math.min(marginBytesMax, Math.max(marginBytesMin, limitBytes * marginShare))
  }

  /** Checks the total, and makes a sandbox free memory if necessary. Returns true if the next check should follow soon. */
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
    if (sharers.some(({ isReducingMemory }) => isReducingMemory)) return
    // Frozen sandboxes keep their memory; the others share the rest.
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
    const ends = this.#hasFreedNothing(sharer, own)
    this.#onReduction(usedBytes, ends)
    if (ends) {
      this.#last = undefined
      sharer.end()
      return
    }
    // The amount to free. A sandbox never has to go below its share.
    const excess = usedBytes - this.#triggerBytes * (1 - slackShare)
    const toBytes = Math.max(share, own - excess)
    this.#last = { sharer, fromBytes: own, toBytes, atMs: performance.now() }
    sharer.reduceMemoryTo(toBytes)
  }

  #hasFreedNothing(sharer: Sharer, own: number): boolean {
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
