import { newUuid, systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { sql } from 'kysely'
import pino from 'pino'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createLineage, type Lineage } from './lineage.ts'

let database: FreshDatabase
beforeEach(async () => {
  database = await createFreshDatabase()
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
/** Restores the saved rows. */
const restore = async (rows: Awaited<ReturnType<typeof saved>>) => {
  await sql`delete from instance_starts`.execute(database.db)
  for (const { id, mark, started_at } of rows)
    await sql`insert into instance_starts values (${id}, ${mark}, ${started_at})`.execute(database.db)
}

it('begins no new epoch if the database knows the remembered start', async () => {
  const first = await started()
  await first.advance()
  const remembered = await first.advance()
  const second = await started()
  expect(await second.compareMark(remembered, 'a host')).toBe(false)
  expect(await second.compareMark(null, 'a new host')).toBe(false)
  expect(second.epoch()).toBe(0)
})

it('begins one new epoch if the database does not know the remembered start', async () => {
  const before = await saved()
  const remembered = await (await started()).advance()
  await restore(before)
  const second = await started()
  expect(
    await Promise.all([second.compareMark(remembered, 'one host'), second.compareMark(remembered, 'two')]),
  ).toEqual([true, false])
  expect(second.epoch()).toBe(1)
  expect(second.begunAt()).not.toBeNull()
  expect((await started()).epoch()).toBe(1)
})

it('detects by the mark that a backup was taken while the instance ran', async () => {
  const first = await started()
  const early = await first.advance()
  const before = await saved()
  const late = await first.advance()
  await restore(before)
  const second = await started()
  expect(await second.compareMark(early, 'a host that fell silent before the backup')).toBe(false)
  expect(await second.compareMark(late, 'a host')).toBe(true)
})

it.each(['an earlier mark', 'no start'])(
  'begins one epoch if the database goes back to %s while it runs',
  async (to) => {
    const lineage = await started()
    const none: Awaited<ReturnType<typeof saved>> = []
    await lineage.advance()
    const before = to === 'no start' ? none : await saved()
    const late = await lineage.advance()
    await restore(before)
    expect(await lineage.advance()).toEqual({ ...late, epoch: 1, mark: late.mark + 1 })
    expect(await lineage.advance()).toEqual({ ...late, epoch: 1, mark: late.mark + 2 })
    expect(await lineage.compareMark(late, 'a host')).toBe(false)
    expect(lineage.epoch()).toBe(1)
  },
)

it('begins no second epoch for its own mark after a host reported the restore', async () => {
  const lineage = await started()
  const before = await saved()
  const late = await lineage.advance()
  await restore(before)
  expect(await lineage.compareMark(late, 'a host')).toBe(true)
  expect((await lineage.advance()).epoch).toBe(1)
})

it('begins an epoch above every remembered one', async () => {
  const lineage = await started()
  expect(await lineage.compareMark({ epoch: 4, startId: newUuid(), mark: 1 }, 'a host')).toBe(true)
  expect(lineage.epoch()).toBe(5)
  // A watermark of an earlier epoch begins no new one.
  expect(await lineage.compareMark({ epoch: 4, startId: newUuid(), mark: 9 }, 'another')).toBe(false)
})
