/**
 * Sends what a table holds to receivers that may be slow or dead: mails and webhooks. The table's module leases due
 * items and records outcomes. The engine decides when to claim and how many items are in flight, and waits for them
 * when it stops. An item belongs to a lane, its receiver. A busy lane never delays another.
 */
import type { Clock, Logger } from '@dock/foundation'

export type DeliveryEngine = {
  /** Looks for due items without waiting for them. Call it after items were saved. */
  wake(): void
  start(): void
  /** Claims no more items. Resolves when none is in flight. */
  stop(): Promise<void>
}

export type ClaimRequest = {
  /** How many items the engine can take. */
  limit: number
  /** The number of items in flight of each lane that has any. */
  inFlight: ReadonlyMap<string, number>
}

/** `nextAt` is when the next item becomes due, as far as the claim knows. Null if none waits. */
export type Claim<Item> = { items: Item[]; nextAt: Date | null }

export type DeliveryOptions<Item> = {
  /** For log lines: `mails`. */
  name: string
  clock: Clock
  logger: Logger
  /** How many items are sent at the same time, over all lanes. */
  inFlightMax: number
  laneOf(item: Item): string
  /** Leases due items, so that no other process takes them while they are sent. */
  claim(request: ClaimRequest): Promise<Claim<Item>>
  /** Sends a claimed item and records the outcome. If it throws, the item is sent again once its lease has expired. */
  deliver(item: Item): Promise<void>
}

/** How often the engine looks without being woken, in milliseconds: for items whose sender died. */
const sweepMs = 5_000

/** Returns the pause before the next attempt, in milliseconds: `firstMs`, doubled with each attempt, up to `longestMs`. */
export function retryPauseMs(
  attemptsMade: number,
  { firstMs, longestMs }: { firstMs: number; longestMs: number },
): number {
  return Math.min(firstMs * 2 ** Math.max(0, attemptsMade - 1), longestMs)
}

export function createDeliveryEngine<Item>(options: DeliveryOptions<Item>): DeliveryEngine {
  const { name, clock, logger, inFlightMax, laneOf } = options
  const lanes = new Map<string, number>()
  const sending = new Set<Promise<void>>()
  let started = false
  let looking: Promise<void> | null = null
  let mustLookAgain = false
  let cancel: () => void = () => undefined

  const launch = (item: Item): void => {
    const lane = laneOf(item)
    lanes.set(lane, (lanes.get(lane) ?? 0) + 1)
    const sent = options
      .deliver(item)
      .catch((error: unknown) => logger.error({ err: error }, `could not record the delivery of ${name}`))
      .finally(() => {
        sending.delete(sent)
        const left = (lanes.get(lane) ?? 1) - 1
        if (left > 0) lanes.set(lane, left)
        else lanes.delete(lane)
        wake()
      })
    sending.add(sent)
  }

  /** Claims and launches items until the engine is full or nothing more is due. Returns when to look again. */
  const launchDue = async (): Promise<Date | null> => {
    for (;;) {
      mustLookAgain = false
      const limit = inFlightMax - sending.size
      if (!started || limit <= 0) return null
      const { items, nextAt } = await options.claim({ limit, inFlight: lanes })
      for (const item of items) launch(item)
      if (items.length > 0 || mustLookAgain) continue
      // An item may have become due during the look.
      if (!nextAt || nextAt > clock.now()) return nextAt
    }
  }

  const wake = (): void => {
    if (!started) return
    if (looking) {
      mustLookAgain = true
      return
    }
    cancel()
    looking = launchDue()
      .catch((error: unknown) => {
        logger.error({ err: error }, `could not look for due ${name}`)
        return null
      })
      .then((nextAt) => {
        looking = null
        if (!started) return
        if (mustLookAgain) return wake()
        const untilNextMs = nextAt ? nextAt.getTime() - clock.now().getTime() : sweepMs
        cancel = clock.after(Math.min(Math.max(untilNextMs, 1), sweepMs), wake)
      })
  }

  return {
    wake,
    start: () => {
      started = true
      wake()
    },
    stop: async () => {
      started = false
      cancel()
      await looking
      await Promise.all(sending)
    },
  }
}
