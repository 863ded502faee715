/**
 * Removes what deleted organizations have in quarantine. Nobody has to decide on it: of these the database itself knows that
 * nothing is to be kept. Hosts get orders for it, so that no silent host is waited for.
 */
import type { Clock } from '@dock/foundation'
import { type Db, withTransaction } from '../../database/database.ts'
import { type OrderForHost, saveHostOrders } from './host-orders.ts'
import {
  captureOf,
  type DeletedOrganizations,
  isOpen,
  type Quarantined,
  takeQuarantined,
} from './quarantine-store.ts'

const batch = 1_000

/** What the host is to remove: of a Dock that it has not confirmed, the Dock itself as well. */
const ordersFor = (item: Quarantined): OrderForHost[] => {
  const { hostId, kind, thingId, generation, state } = item
  // What was decided on has its order, or is a Snapshot of somebody's now.
  if (hostId === null || !isOpen(item)) return []
  const capture = { hostId, kind: 'capture' as const, thingId: captureOf(item), generation: 0 }
  return kind === 'dock' && state === 'found' ? [{ hostId, kind, thingId, generation }, capture] : [capture]
}

/** Returns how many entries there were. Repeating it is harmless. */
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
