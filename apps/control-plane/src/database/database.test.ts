import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Tx, withTransaction } from './database.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())

it('plans a prepared statement once, for all values', async () => {
  const { db, close } = openDatabase({ url: database.url, maxConnections: 1 })
  for (let value = 0; value < 4; value++) await sql`select ${value}::int`.execute(db)
  const plans = await sql<{ generic: number; custom: number }>`
    select generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements`.execute(db)
  expect(plans.rows).toEqual([{ generic: 2, custom: 0 }])
  await close()
})

it('cancels a statement after the timeout, and the connection stays usable', async () => {
  const { db, close } = openDatabase({ url: database.url, maxConnections: 1, statementTimeoutMs: 1_000 })
  await expect(sql`select pg_sleep(60)`.execute(db)).rejects.toMatchObject({ code: '57014' })
  expect((await sql<{ n: number }>`select 1 as n`.execute(db)).rows).toEqual([{ n: 1 }])
  await close()
})

describe('a transaction whose connection ends between two statements', () => {
  /** Opens a pool of one connection, and lets `work` run in a transaction after its connection ended. */
  const afterTheEnd = async (work: (tx: Tx) => Promise<unknown>) => {
    const opened = openDatabase({ url: database.url, maxConnections: 1 })
    const ended = Promise.withResolvers<void>()
    opened.connections.once('acquire', (client: pg.PoolClient) => client.once('end', () => ended.resolve()))
    const transaction = withTransaction(opened.db, async (tx) => {
      await sql`select pg_terminate_backend(${await pidOf(tx)}::int)`.execute(database.db)
      await ended.promise
      return work(tx)
    })
    return { opened, transaction }
  }
  const pidOf = async (db: Tx | typeof database.db): Promise<number | undefined> =>
    (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid

  it.each<[string, (tx: Tx) => Promise<unknown>]>([
    ['at its next statement', pidOf],
    ['at its end', async () => undefined],
  ])('fails %s, and the pool replaces the connection', async (_when, work) => {
    const { opened, transaction } = await afterTheEnd(work)
    await expect(transaction).rejects.toThrow(/not queryable|terminat/)
    expect(await pidOf(opened.db)).toBeGreaterThan(0)
    expect(opened.connections.totalCount).toBe(1)
    await opened.close()
  })
})
