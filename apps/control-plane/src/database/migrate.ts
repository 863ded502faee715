/**
 * Brings the database to the program's version: numbered `.sql` files, each in a transaction of its own with its
 * record, one process at a time. What was applied is never edited: a changed file or a newer database is refused.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { advisoryLocks } from './instance-lock.ts'

type Migration = { number: number; name: string; sql: string; checksum: string }
type Applied = { number: number; name: string; checksum: string }

/** The program's own migrations. */
export const migrationsFolder = join(import.meta.dirname, 'migrations')

const readMigrations = async (folder: string): Promise<Migration[]> => {
  const names = (await readdir(folder)).filter((name) => /^\d{3}_[a-z0-9-_]+\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(join(folder, name), 'utf8')
      const checksum = createHash('sha256').update(sql).digest('hex')
      return { number: Number(name.slice(0, 3)), name, sql, checksum }
    }),
  )
}

const checkApplied = (known: readonly Migration[], applied: readonly Applied[]): void => {
  for (const done of applied) {
    const file = known.find((migration) => migration.number === done.number)
    if (!file) {
      throw new Error(
        `The database is newer than this program: it has migration ${done.name}. Start the version of Dock that made it, or a later one.`,
      )
    }
    if (file.checksum !== done.checksum) {
      throw new Error(
        `Migration ${file.name} is not the one this database was made with. Restore the file; a change needs a migration of its own.`,
      )
    }
  }
}

/** Applies what is missing and answers the names applied now. Throws when the database is newer, before any change. */
export async function migrate(url: string, folder = migrationsFolder): Promise<string[]> {
  const known = await readMigrations(folder)
  const client = new pg.Client({ connectionString: url, application_name: 'dock-migrate' })
  await client.connect()
  try {
    // No timeout: a migration may be long, and so may the wait for one that another process runs.
    await client.query('set statement_timeout = 0')
    await client.query('select pg_advisory_lock($1)', [advisoryLocks.migrations])
    await client.query(`create table if not exists schema_migrations (
      number integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now()
    )`)
    const { rows } = await client.query<Applied>(
      'select number, name, checksum from schema_migrations order by number',
    )
    checkApplied(known, rows)
    const missing = known.filter((migration) => !rows.some((row) => row.number === migration.number))
    for (const migration of missing) await apply(client, migration)
    return missing.map((migration) => migration.name)
  } finally {
    // Ending the session lets go of the lock too.
    await client.end()
  }
}

const apply = async (client: pg.Client, migration: Migration): Promise<void> => {
  await client.query('begin')
  try {
    await client.query(migration.sql)
    await client.query('insert into schema_migrations (number, name, checksum) values ($1, $2, $3)', [
      migration.number,
      migration.name,
      migration.checksum,
    ])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw new Error(`Migration ${migration.name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
