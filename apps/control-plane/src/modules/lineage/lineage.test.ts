import { newUuid, systemClock } from '@dock/foundation'
import { type FreshDatabase, freshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import pino from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLineage, type Lineage } from './lineage.ts'

let database: FreshDatabase
beforeEach(async () => {
  database = await freshDatabase()
})
afterEach(() => database.drop())

const started = async (): Promise<Lineage> => {
  const logger = pino({ level: 'silent' })
  const lineage = createLineage({ db: database.db, clock: systemClock, logger })
  await lineage.begin()
  return lineage
}
const saved = async () =>
  (
    await sql<{ id: string; mark: string; started_at: Date }>`select * from instance_starts`.execute(
      database.db,
    )
  ).rows
/** Puts the database back to what it was. */
const restore = async (rows: Awaited<ReturnType<typeof saved>>) => {
  await sql`delete from instance_starts`.execute(database.db)
  for (const { id, mark, started_at } of rows)
    await sql`insert into instance_starts values (${id}, ${mark}, ${started_at})`.execute(database.db)
}

it('a start that follows the one that is remembered is the same database', async () => {
  const first = await started()
  await first.advance()
  const remembered = await first.advance()
  const second = await started()
  expect(await second.look(remembered, 'a host')).toBe(false)
  expect(await second.look(null, 'a new host')).toBe(false)
  expect(second.epoch()).toBe(0)
})

it('a database without the start that is remembered was restored: one new epoch begins', async () => {
  const before = await saved()
  const remembered = await (await started()).advance()
  await restore(before)
  const second = await started()
  expect(await Promise.all([second.look(remembered, 'one host'), second.look(remembered, 'two')])).toEqual([
    true,
    false,
  ])
  expect(second.epoch()).toBe(1)
  expect(second.begunAt()).not.toBeNull()
  expect((await started()).epoch()).toBe(1)
})

it('a backup of the running database is told apart by the mark', async () => {
  const first = await started()
  const early = await first.advance()
  const before = await saved()
  const late = await first.advance()
  await restore(before)
  const second = await started()
  expect(await second.look(early, 'a host that fell silent before the backup')).toBe(false)
  expect(await second.look(late, 'a host')).toBe(true)
})

it('an epoch that is remembered and unknown is passed', async () => {
  const lineage = await started()
  expect(await lineage.look({ epoch: 4, startId: newUuid(), mark: 1 }, 'a host')).toBe(true)
  expect(lineage.epoch()).toBe(5)
  // Of an epoch that is over everything is told apart already.
  expect(await lineage.look({ epoch: 4, startId: newUuid(), mark: 9 }, 'another')).toBe(false)
})
