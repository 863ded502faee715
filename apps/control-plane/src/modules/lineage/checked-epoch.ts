/** What sweeps have checked since the database was restored. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/**
 * SQL predicate: false after a restore of the database until all copies were compared with the object store. A recorded
 * copy may be gone until then, so no capture may be removed because of it.
 */
export const areCopiesChecked: RawBuilder<boolean> = sql`not exists (select 1 from instance_epoch i
  where i.begun_at is not null and i.copies_checked < i.epoch)`

/** Records that all copies were compared with the object store in this epoch. */
export async function markCopiesChecked(db: Db, epoch: number): Promise<void> {
  await sql`update instance_epoch set copies_checked = ${epoch}`.execute(db)
}

/** Records that all objects up to `before` were compared with the database, if the epoch began earlier. */
export async function markObjectsChecked(db: Db, before: Date): Promise<void> {
  await sql`update instance_epoch set objects_checked = epoch
    where begun_at is not null and begun_at <= ${before}`.execute(db)
}
