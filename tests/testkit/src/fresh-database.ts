/** A new database for each test file, cloned from the migrated template in a fraction of a second. */
import { type DatabaseConnection, openDatabase } from '@dock/control-plane/database'
import { randomBase32 } from '@dock/foundation'
import pg from 'pg'
import { inject } from 'vitest'
import { databaseUrl, templateDatabase } from './cluster.ts'

export type FreshDatabase = DatabaseConnection & {
  url: string
  /** Closes the connections and drops the database. */
  drop(): Promise<void>
}

const administer = async (statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

/** Creates a database without tables and returns its URL. Remove it with {@link dropDatabase}. */
export async function createEmptyDatabase(): Promise<string> {
  const name = `test_${randomBase32(12)}`
  await administer(`create database ${name} template template0 strategy file_copy`)
  return databaseUrl(inject('postgresUrl'), name)
}

/** Drops a database by its URL, even if clients are connected. */
export function dropDatabase(url: string): Promise<void> {
  return administer(
    `drop database if exists ${new URL(url.replace('@/', '@localhost/')).pathname.slice(1)} with (force)`,
  )
}

/** Creates a database as a clone of the migrated template. */
export async function createFreshDatabase(): Promise<FreshDatabase> {
  const name = `test_${randomBase32(12)}`
  await administer(`create database ${name} template ${templateDatabase} strategy file_copy`)
  const url = databaseUrl(inject('postgresUrl'), name)
  // Tests of races queue for few connections on a busy machine, so the timeout is long.
  const connection = openDatabase({ url, maxConnections: 5, connectTimeoutMs: 60_000 })
  return {
    ...connection,
    url,
    drop: async () => {
      await connection.close()
      await dropDatabase(url)
    },
  }
}
