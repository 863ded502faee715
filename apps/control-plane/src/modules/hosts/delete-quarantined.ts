/** Gives what stands in quarantine up for good: its host gets an order, which it carries out after its next report. */
import type { Clock } from '@dock/foundation'
import { type Db, withTransaction } from '../../database/database.ts'
import { saveHostOrders } from './host-orders.ts'
import { captureOf, decide, lockQuarantined } from './quarantine-store.ts'

/** Throws a sentence that says what to do. */
export function deleteQuarantined({ db, clock }: { db: Db; clock: Clock }, id: string): Promise<void> {
  return withTransaction(db, async (tx) => {
    const item = await lockQuarantined(tx, id)
    if (!item)
      throw new Error(`Nothing stands in quarantine under ${id}: script/quarantine list shows what does.`)
    if (item.state !== 'held')
      throw new Error(`It is ${item.state}: only what its host has confirmed (held) can be deleted.`)
    const now = clock.now()
    // Objects of the store go with the next search for strays.
    if (item.hostId !== null) {
      const order = {
        hostId: item.hostId,
        kind: 'capture' as const,
        thingId: captureOf(item),
        generation: 0,
      }
      await saveHostOrders([order], now).execute(tx)
    }
    await decide(tx, id, 'deleted', now)
  })
}
