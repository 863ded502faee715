/** SQL that saves what receivers are sent, as a part of the statement that writes an event. */
import { type RawBuilder, sql } from 'kysely'

/**
 * Returns an INSERT with one delivery for each row of `events` (a relation with the columns of `dock_events`) and each
 * endpoint that is enabled and subscribed at this moment. An endpoint that is added later never receives the event.
 */
export function insertDeliveries(events: RawBuilder<unknown>, now: Date): RawBuilder<unknown> {
  return sql`
  insert into webhook_deliveries (id, endpoint_id, organization_id, event_id, event, occurred_at, dock_id, dock_state,
    workspace_id, next_attempt_at, created_at)
  select gen_random_uuid(), e.id, v.organization_id, v.id, v.type, v.occurred_at, v.dock_id, v.dock_state,
    v.workspace_id, ${now}::timestamptz, ${now}::timestamptz
  from ${events} v join webhook_endpoints e
    on e.organization_id = v.organization_id and e.disabled_at is null and v.type = any(e.events)`
}
