/** What a Snapshot is needed for, and its Dock for its Snapshots: Templates boot from them, and so do other Docks. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** Whether a Template boots, or is about to boot, from a Snapshot of the Dock. */
export function frozenAsTemplate(dockId: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
  select 1 from templates t join snapshots s on s.id = t.snapshot_id
  where s.dock_id = ${dockId} and t.status <> 'failed')`
}

export async function isFrozenAsTemplate(db: Db, dockId: string): Promise<boolean> {
  return (
    (await sql<{ held: boolean }>`select ${frozenAsTemplate(dockId)} as held`.execute(db)).rows[0]?.held ??
    false
  )
}

/** Whether an operation under way boots a Dock from the Snapshot `s`. One that is blocked has booted it already. */
export const bootsUnderWay: RawBuilder<boolean> = sql<boolean>`exists (
  select 1 from operations o where o.status in ('pending', 'processing') and o.organization_id = s.organization_id
    and o.data #>> '{command,source,captureId}' = s.id::text)`

/** Whether another Dock is being made of a Snapshot of the Dock: by a branch, that is, for Templates hold it anyway. */
export function isBeingCopied(dockId: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
  select 1 from snapshots s where s.dock_id = ${dockId} and ${bootsUnderWay})`
}
