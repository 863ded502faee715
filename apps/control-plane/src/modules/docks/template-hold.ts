/** A Template keeps the Snapshot that it boots from, and so that Snapshot's Dock. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** Whether a Template boots, or is about to boot, from a Snapshot of the Dock. */
export const frozenAsTemplate = (dockId: string): RawBuilder<boolean> => sql<boolean>`exists (
  select 1 from templates t join snapshots s on s.id = t.snapshot_id
  where s.dock_id = ${dockId} and t.status <> 'failed')`

export const isFrozenAsTemplate = async (db: Db, dockId: string): Promise<boolean> =>
  (await sql<{ held: boolean }>`select ${frozenAsTemplate(dockId)} as held`.execute(db)).rows[0]?.held ??
  false
