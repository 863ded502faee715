import { createLogger } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase, withTransaction } from '../database/database.ts'
import { toServiceError } from './envelope.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())

it('says that the service is unavailable if the database ends a connection between two statements', async () => {
  const { connections, db, close } = openDatabase({ url: database.url, maxConnections: 1 })
  const ended = Promise.withResolvers<void>()
  connections.once('acquire', (client: pg.PoolClient) => client.once('end', () => ended.resolve()))
  const error: unknown = await withTransaction(db, async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
    await sql`select pg_terminate_backend(${rows[0]?.pid}::int)`.execute(database.db)
    await ended.promise
    await sql`select 1`.execute(tx)
  }).catch((thrown: unknown) => thrown)
  expect(toServiceError(error, createLogger('test', { write: () => undefined })).code).toBe(
    'service_unavailable',
  )
  await close()
})
