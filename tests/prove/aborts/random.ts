/** Choices that a seed determines, so that a request of the fuzz can be chosen again. */
export type Random = {
  /** Returns a whole number from 0 to `max` - 1. */
  below(max: number): number
  chance(share: number): boolean
  pick<T>(items: readonly T[]): T
  /** Picks an item by its weight. */
  weighted<T extends { weight: number }>(items: readonly T[]): T
  bytes(length: number): Buffer
}

/** The generator mulberry32. */
export function createRandom(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b) >>> 0
  const next = (): number => {
    state = (state + 0x6d2b_79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (max: number): number => Math.floor(next() * max)
  return {
    below,
    chance: (share) => next() < share,
    pick: (items) => items[below(items.length)]!,
    weighted: (items) => {
      let left = next() * items.reduce((sum, { weight }) => sum + weight, 0)
      for (const item of items) {
        left -= item.weight
        if (left < 0) return item
      }
      return items.at(-1)!
    },
    bytes: (length) => {
      const bytes = Buffer.alloc(length)
      for (let at = 0; at < length; at += 1) bytes[at] = below(256)
      return bytes
    },
  }
}
