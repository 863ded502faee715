/** SQL predicates that tell if a Snapshot, or any Snapshot of a Dock, is in use by a Template or another Dock. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** SQL predicate: true if a Template uses a Snapshot of the Dock, or is about to. */
export function hasTemplate(dockId: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
  select 1 from templates t join snapshots s on s.id = t.snapshot_id
  where s.dock_id = ${dockId} and t.status <> 'failed')`
}

/** Evaluates {@link hasTemplate}. */
export async function readHasTemplate(db: Db, dockId: string): Promise<boolean> {
  return (
    (await sql<{ held: boolean }>`select ${hasTemplate(dockId)} as held`.execute(db)).rows[0]?.held ?? false
  )
}

/**
 * SQL predicate: true if a running operation boots a Dock from the Snapshot `s`. Blocked operations do not count: they
 * have booted the Dock already.
 */
export const isBeingBooted: RawBuilder<boolean> = sql<boolean>`exists (
  select 1 from operations o where o.status in ('pending', 'processing') and o.organization_id = s.organization_id
    and o.data #>> '{command,source,captureId}' = s.id::text)`

/**
 * SQL predicate: true if another Dock is being booted from a Snapshot of the Dock. In practice this is a branch;
 * Templates are covered by {@link hasTemplate}.
 */
export function isBeingCopied(dockId: string): RawBuilder<boolean> {
  return sql<boolean>`exists (
  select 1 from snapshots s where s.dock_id = ${dockId} and ${isBeingBooted})`
}
