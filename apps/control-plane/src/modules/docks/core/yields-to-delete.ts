/**
 * An operation that waits for its host may wait for good: a recovery in a full pool, which has room again only once a
 * disk goes, or a stop on a host that is lost. So each gives way to what removes its Dock's disk, but for a delete, which
 * does that itself. One that is being tried holds its Dock as any operation does.
 */
import { type RawBuilder, sql } from 'kysely'
import type { OperationRow } from '../../../engine/index.ts'

/** Whether an operation `o` is such a one. */
export const givesWay: RawBuilder<boolean> = sql<boolean>`(o.kind <> 'delete' and o.status = 'blocked')`

/** For a claim's `ended as (…)`: completes the operation that gives way, if the claim has taken the Dock. */
export function endGivingWay({ id, dockId }: OperationRow, now: Date): RawBuilder<unknown> {
  const error = { code: 'conflict', message: `It gave way to operation ${id}.` }
  return sql`update operations o set status = 'completed', error = ${JSON.stringify(error)}::jsonb, updated_at = ${now}
    where o.dock_id = ${dockId}::uuid and ${givesWay} and exists (select 1 from moved) returning o.id`
}
