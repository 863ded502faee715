/** Records that a sweep has looked for what the database lost, in this epoch. */
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** Records that all copies were compared with the object store in this epoch. */
export async function markCopiesChecked(db: Db, epoch: number): Promise<void> {
  await sql`update instance_epoch set copies_checked = ${epoch}`.execute(db)
}

/** Records that all objects up to `before` were compared with the database, if the epoch began earlier. */
export async function markObjectsChecked(db: Db, before: Date): Promise<void> {
  await sql`update instance_epoch set objects_checked = epoch
    where begun_at is not null and begun_at <= ${before}`.execute(db)
}
