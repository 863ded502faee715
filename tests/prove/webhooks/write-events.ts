/** Writes events as a Dock's change of state does: with their deliveries, in one statement. */
import type { Db } from '@dock/control-plane/database'
import { insertDeliveries } from '@dock/control-plane/src/modules/webhooks/index.ts'
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'

export type WrittenEvent = { id: string; organizationId: string; atMs: number }

/** Returns the event, or null if the database did not confirm it: it may be saved or not. */
export async function writeEvent(db: Db, organizationId: string): Promise<WrittenEvent | null> {
  const id = newUuid()
  const now = new Date()
  try {
    await sql`
    with event as (insert into dock_events (id, type, dock_id, dock_state, organization_id, workspace_id, occurred_at)
      values (${id}, 'dock.ready', ${newUuid()}, 'ready', ${organizationId}, ${newUuid()}, ${now}) returning *),
    deliveries as (${insertDeliveries(sql`event`, now)})
    select 1`.execute(db)
    return { id, organizationId, atMs: now.getTime() }
  } catch {
    return null
  }
}
