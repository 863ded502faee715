/**
 * Slows down long lists of files. A small disk can hold a list of gigabytes, which the control plane parses and writes as
 * JSON. Every person and organization may send a large list at once, and the rest at a moderate rate.
 */
import { limits } from '@dock/contract'
import { type Clock, systemClock } from '@dock/foundation'
import type { ReadingParty } from './open-readings.ts'

const { listBytesAtOnce, listBytesPerSecond } = limits.snapshotReadings
/** Beyond this many, those that may send a whole list again are forgotten. */
const rememberedMax = 1_000

/** Resolves when the party may send as many bytes. */
export type ListPace = (party: ReadingParty, bytes: number) => Promise<void>

export function createListPace(clock: Clock = systemClock): ListPace {
  /** The time at which a party has used up nothing of what it may send at once, in milliseconds. */
  const settledAt = new Map<string, number>()
  const forgetSettled = (now: number): void => {
    if (settledAt.size <= rememberedMax) return
    for (const [party, at] of settledAt) if (at <= now) settledAt.delete(party)
  }
  /** Counts the bytes and returns how long to wait. */
  const use = (party: string, bytes: number, now: number): number => {
    const at = Math.max(settledAt.get(party) ?? 0, now) + (bytes / listBytesPerSecond) * 1000
    settledAt.set(party, at)
    return at - now - (listBytesAtOnce / listBytesPerSecond) * 1000
  }
  return async ({ userId, organizationId }, bytes) => {
    const now = clock.now().getTime()
    forgetSettled(now)
    const waitMs = Math.max(use(`user ${userId}`, bytes, now), use(`org ${organizationId}`, bytes, now))
    if (waitMs > 0) await new Promise<void>((resolve) => void clock.after(waitMs, resolve))
  }
}
