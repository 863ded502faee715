/** Deletes a quarantined item for good. Its host receives the order after its next inventory. */
import type { Clock } from '@dock/foundation'
import { type Db, withTransaction } from '../../database/database.ts'
import { type Actor, recordAudit } from '../audit/index.ts'
import { saveHostOrders } from './host-orders.ts'
import { QuarantineRefused } from './quarantine-refused.ts'
import { adminIdOf, captureIdOf, lockQuarantined, recordQuarantineDecision } from './quarantine-store.ts'

/**
 * Throws {@link QuarantineRefused} for the operator if there is no such item, or if it is not `held`.
 */
export function deleteQuarantined(
  { db, clock }: { db: Db; clock: Clock },
  id: string,
  by: Actor,
): Promise<void> {
  return withTransaction(db, async (tx) => {
    const item = await lockQuarantined(tx, id)
    if (!item)
      throw new QuarantineRefused(
        'not_found',
        `There is no quarantined item ${id}. List the items with script/admin quarantine list.`,
      )
    if (item.state !== 'held')
      throw new QuarantineRefused(
        'conflict',
        `The item is ${item.state}. Only a held item, which its host has confirmed, can be deleted.`,
      )
    const now = clock.now()
    // Objects in the object store need no order: the next sweep of stray objects removes them.
    if (item.hostId !== null) {
      const order = {
        hostId: item.hostId,
        kind: 'capture' as const,
        thingId: captureIdOf(item),
        generation: 0,
      }
      await saveHostOrders([order], now).execute(tx)
    }
    await recordQuarantineDecision(tx, id, { state: 'deleted', adminId: adminIdOf(by), now })
    await recordAudit(tx, by, {
      action: 'quarantine.deleted',
      now,
      organizationId: item.organizationId,
      target: { type: 'dock', id: item.dockId ?? item.thingId, name: item.note?.hostname ?? null },
      details: { kind: item.kind, host: item.hostId },
    })
  })
}
