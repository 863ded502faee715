import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { PreparingClient } from './preparing-client.ts'

let database: FreshDatabase
let client: PreparingClient
beforeAll(async () => {
  database = await createFreshDatabase()
  client = new PreparingClient({ connectionString: database.url })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await database.drop()
})

const prepared = async (): Promise<string[]> =>
  (await client.query<{ statement: string }>('select statement from pg_prepared_statements')).rows.map(
    (row) => row.statement,
  )
const ask = async (text: string, value: number) =>
  (await client.query<{ n: number }>(text, [value])).rows.map((row) => row.n)

it('prepares a statement at its third use, with the same results', async () => {
  const text = 'select $1::int + 1 as n'
  for (const value of [1, 2]) expect(await ask(text, value)).toEqual([value + 1])
  expect(await prepared()).not.toContain(text)
  for (const value of [3, 4]) expect(await ask(text, value)).toEqual([value + 1])
  expect(await prepared()).toContain(text)
})

it('stays usable after a failed statement and after a rolled back transaction', async () => {
  const text = 'select 1 / $1::int as n'
  for (const value of [1, 0, 1, 0, 1])
    if (value === 0) await expect(ask(text, value)).rejects.toThrow('division by zero')
    else expect(await ask(text, value)).toEqual([1])
  await client.query('begin')
  await expect(ask(text, 0)).rejects.toThrow('division by zero')
  await expect(ask(text, 1)).rejects.toThrow('aborted')
  await client.query('rollback')
  expect(await ask(text, 1)).toEqual([1])
})

it('reads all columns of a table to which another process adds one', async () => {
  await client.query('create table grows (n int)')
  const texts = ['select * from grows where n = $1', 'insert into grows (n) values ($1) returning *']
  for (let time = 0; time < 4; time++) for (const text of texts) await ask(text, time)
  await database.db.schema.alterTable('grows').addColumn('more', 'integer').execute()
  for (const text of texts) expect(await ask(text, 5)).toEqual(text.startsWith('select') ? [] : [5])
})

it('prepares a limited number of statements', async () => {
  for (let different = 0; different < 400; different++)
    for (let time = 0; time < 3; time++) await ask(`select $1::int as n -- ${different}`, different)
  expect((await prepared()).length).toBeLessThanOrEqual(300)
})

it('does not prepare statements without values, and sends query objects unchanged', async () => {
  for (let time = 0; time < 4; time++) await client.query('select 7 as n')
  expect(await prepared()).not.toContain('select 7 as n')
  expect((await client.query({ text: 'select $1::int as n', values: [1] })).rows).toEqual([{ n: 1 }])
  expect(client).toBeInstanceOf(pg.Client)
})
