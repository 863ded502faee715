/**
 * A recovery that waits for its host may wait for good, as in a full pool, which has room again only once a disk goes.
 * So it gives way to what removes its Dock's disk. One that is being tried holds its Dock as any operation does.
 */
import { type RawBuilder, sql } from 'kysely'
import type { OperationRow } from '../../../engine/index.ts'

/** Whether an operation `o` is such a recovery. */
export const isWaitingRecovery: RawBuilder<boolean> = sql<boolean>`(o.kind = 'recover' and o.status = 'blocked')`

/** For a claim's `ended as (…)`: completes the recovery, if the claim has taken the Dock. */
export const endWaitingRecovery = ({ id, dockId }: OperationRow, now: Date): RawBuilder<unknown> => {
  const error = { code: 'conflict', message: `It gave way to operation ${id}.` }
  return sql`update operations o set status = 'completed', error = ${JSON.stringify(error)}::jsonb, updated_at = ${now}
    where o.dock_id = ${dockId}::uuid and ${isWaitingRecovery} and exists (select 1 from moved) returning o.id`
}
