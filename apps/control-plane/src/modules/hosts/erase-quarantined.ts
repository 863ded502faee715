/**
 * Removes the quarantined items of deleted organizations. An operator does not have to decide on these, because nothing of
 * a deleted organization is kept. Hosts receive orders, so that the removal does not wait for a silent host.
 */
import type { Clock } from '@dock/foundation'
import { type Db, withTransaction } from '../../database/database.ts'
import { type OrderForHost, saveHostOrders } from './host-orders.ts'
import {
  captureIdOf,
  commandGenerationOf,
  type DeletedOrganizations,
  isUndecided,
  type Quarantined,
  takeQuarantined,
} from './quarantine-store.ts'

const batch = 1_000

/** The orders that remove an item. For a Dock that its host has not confirmed, they remove the Dock too. */
const ordersFor = (item: Quarantined): OrderForHost[] => {
  const { hostId, kind, thingId, state } = item
  // A deleted item already has its order, and an adopted one has become a Snapshot.
  if (hostId === null || !isUndecided(item)) return []
  const capture = { hostId, kind: 'capture' as const, thingId: captureIdOf(item), generation: 0 }
  if (kind !== 'dock' || state !== 'found') return [capture]
  return [{ hostId, kind, thingId, generation: commandGenerationOf(item) }, capture]
}

/** Removes the items and returns how many there were. Idempotent. */
export async function eraseQuarantined(
  { db, clock }: { db: Db; clock: Clock },
  of: DeletedOrganizations,
): Promise<number> {
  let erased = 0
  for (;;) {
    const taken = await withTransaction(db, async (tx) => {
      const items = await takeQuarantined(tx, of, batch)
      await saveHostOrders(items.flatMap(ordersFor), clock.now()).execute(tx)
      return items.length
    })
    erased += taken
    if (taken < batch) return erased
  }
}
