import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase } from './database.ts'

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
