/** For tests: a backup of a whole database that can be restored while the instance is connected. */

import { type Db, withTransaction } from '@dock/control-plane/src/database/database.ts'
import { sql } from 'kysely'

/** The error code of PostgreSQL (appendix A of its manual). */
const lockNotAvailable = '55P03'

type Table = { name: string; columns: string[] }

/** Returns all tables by name with their writable columns. */
const tablesOf = async (db: Db): Promise<Table[]> =>
  (
    await sql<Table>`select c.table_name as name, array_agg(c.column_name::text) as columns
      from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
      where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.is_generated = 'NEVER'
      group by c.table_name order by c.table_name`.execute(db)
  ).rows

/** Takes a backup. Returns a function that restores it. */
export async function backUpDatabase(db: Db): Promise<() => Promise<void>> {
  const tables = await tablesOf(db)
  await withTransaction(db, async (tx) => {
    await sql`create schema backup`.execute(tx)
    for (const { name } of tables)
      await sql`create table ${sql.table(`backup.${name}`)} as table ${sql.table(`public.${name}`)}`.execute(
        tx,
      )
  })
  const restore = (): Promise<void> =>
    withTransaction(db, async (tx) => {
      // A transaction of the instance can wait for a table of this one, and this one for it. PostgreSQL aborts one of them
      // after a second, so this transaction ends before that, and begins again.
      await sql`set local lock_timeout = '100ms'`.execute(tx)
      // Disable triggers and foreign keys, as a restore of a real backup does.
      await sql`set local session_replication_role = replica`.execute(tx)
      await sql`truncate ${sql.join(tables.map(({ name }) => sql.table(name)))}`.execute(tx)
      for (const { name, columns } of tables) {
        const all = sql.join(columns.map((column) => sql.ref(column)))
        await sql`insert into ${sql.table(`public.${name}`)} (${all}) overriding system value
          select ${all} from ${sql.table(`backup.${name}`)}`.execute(tx)
      }
    })
  return async () => {
    for (;;) {
      try {
        return await restore()
      } catch (error) {
        if ((error as { code?: string }).code !== lockNotAvailable) throw error
      }
    }
  }
}
