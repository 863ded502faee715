/**
 * Migrates the database to the program's version with numbered `.sql` files. Each file and its record are applied in
 * one transaction, by one process at a time. Applied files must not change: an edited file or a newer database is
 * refused. SQL functions have one current text each, in functions/, which a migration includes by an {@link includeLine}.
 */
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { advisoryLocks } from './instance-lock.ts'

type Migration = { number: number; name: string; sql: string; checksum: string }
type Applied = { number: number; name: string; checksum: string }

/** The migrations of this program. */
export const migrationsFolder = join(import.meta.dirname, 'migrations')
/** The current texts of the SQL functions. */
export const functionsFolder = join(import.meta.dirname, 'functions')

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const include = /^-- include functions\/([a-z0-9-]+\.sql) [0-9a-f]+$/gm

/**
 * Returns the line of a migration that puts the functions of a file in place. It contains a digest of their text, so that
 * each change of the file needs a new migration.
 */
export function includeLine(name: string, text: string): string {
  return `-- include functions/${name} ${sha256(text).slice(0, 12)}`
}

/**
 * Replaces each {@link includeLine} by the current text of its file. A new database gets that text from an earlier
 * migration than the one made for it, when tables that it uses may not exist yet: PostgreSQL must not check it.
 */
const withFunctions = async (text: string): Promise<string> => {
  const names = [...text.matchAll(include)].map((match) => match[1]!)
  if (names.length === 0) return text
  const files = await Promise.all(names.map((name) => readFile(join(functionsFolder, name), 'utf8')))
  const unchecked = `set local check_function_bodies = off;\n${text}`
  return unchecked.replaceAll(include, () => files.shift()!)
}

const readMigrations = async (folder: string): Promise<Migration[]> => {
  const names = (await readdir(folder)).filter((name) => /^\d{3}_[a-z0-9-_]+\.sql$/.test(name)).sort()
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8')
      return {
        number: Number(name.slice(0, 3)),
        name,
        sql: await withFunctions(text),
        checksum: sha256(text),
      }
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
        `Migration ${file.name} was edited after it was applied to this database. Restore the file, and put changes into a new migration.`,
      )
    }
  }
}

/**
 * Applies missing migrations and returns their names. Throws, before any change, if the database is newer than the
 * program or an applied migration was edited.
 */
export async function migrate(url: string, folder = migrationsFolder): Promise<string[]> {
  const known = await readMigrations(folder)
  const client = new pg.Client({ connectionString: url, application_name: 'dock-migrate' })
  // A connection that breaks between two statements fails the next one. Without a listener it would end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
    // Migrations may take long, and so may the wait for the lock while another process migrates.
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
    // The advisory lock ends with the session.
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
    // Fails if the connection ended. The transaction is rolled back then, and the first error says why.
    await client.query('rollback').catch(() => undefined)
    throw new Error(`Migration ${migration.name} failed: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
