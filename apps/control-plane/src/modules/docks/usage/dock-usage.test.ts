import { dockStates, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { secondHost } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { UsageSample } from '../../hosts/index.ts'
import { deleteDock, readDockStats, stopDock } from '../index.ts'

let database: FreshDatabase
let world: TestWorld
beforeEach(async () => {
  database = await createFreshDatabase()
  world = await createTestWorld(database.db)
})
afterEach(() => database.drop())

const gib = 1024 ** 3
const sampleOf = (dockId: string, over: Partial<UsageSample> = {}): UsageSample => ({
  dockId,
  generation: 1,
  cpuPercent: 10,
  memBytes: 100,
  memLimit: 1000,
  diskBytes: 5,
  diskLimit: gib,
  rxBytes: 1,
  txBytes: 2,
  at: '2026-01-01T00:00:00.000Z',
  source: 'host',
  ...over,
})
const report = (...samples: UsageSample[]) =>
  world.modules.hostEvents.handle(world.hostId, { type: 'samples', samples })
const stats = (id: string, window?: '1h' | '24h') =>
  readDockStats(world.modules.context, world.caller, id, { window })
const told = async (): Promise<string[]> =>
  (
    await sql<{ type: string }>`select type from notifications order by occurred_at`.execute(world.db)
  ).rows.map((row) => row.type)
const rows = async (): Promise<number> =>
  (await sql<{ n: number }>`select count(*)::int as n from dock_usage`.execute(world.db)).rows[0]!.n

it('returns the last sample of this boot, or null before the first', async () => {
  const { id } = await world.create()
  expect(await stats(id)).toEqual({ dockId: id, state: 'ready', sample: null })
  await report(sampleOf(id, { generation: 7 }))
  expect((await stats(id)).sample).toBeNull()
  await report(sampleOf(id, { cpuPercent: 12.5 }))
  expect((await stats(id)).sample).toEqual({
    dockId: id,
    at: '2026-01-01T00:00:00.000Z',
    cpuPercent: 12.5,
    memBytes: 100,
    memLimit: 1000,
    diskBytes: 5,
    rxBytes: 1,
    txBytes: 2,
    source: 'host',
  })
  await stopDock(world.modules.context, world.caller, id, { force: false })
  expect((await stats(id)).sample).toBeNull()
})

it.each(dockStates)(
  'returns the last sample of a Dock in state %s only if it has a runtime',
  async (state) => {
    const { id } = await world.create()
    await report(sampleOf(id))
    await sql`update docks set state = ${state} where id = ${id}`.execute(world.db)
    const hasMachine = state !== 'archived' && state !== 'error'
    expect(await stats(id)).toMatchObject({
      state,
      sample: hasMachine ? { dockId: id, memBytes: 100 } : null,
    })
  },
)

it('keeps the last sample of a Dock whose host is silent while other hosts report', async () => {
  const { id } = await world.create()
  await report(sampleOf(id))
  await world.beSilent()
  const otherHost = newUuid()
  for (let minute = 0; minute < 3; minute++) {
    await world.modules.hostEvents.handle(otherHost, { type: 'samples', samples: [sampleOf(newUuid())] })
    world.clock.advance(60_000)
  }
  expect(await stats(id)).toMatchObject({ state: 'unreachable', sample: { dockId: id } })
})

it('keeps averages and peaks of an hour and of a day, written a minute at a time', async () => {
  const { id } = await world.create()
  const other = await world.create()
  for (let minute = 0; minute < 90; minute++) {
    await report(sampleOf(id, { memBytes: minute }), sampleOf(other.id))
    await report(sampleOf(id, { memBytes: minute + 2 }))
    world.clock.advance(60_000)
  }
  expect(await rows()).toBe(2 * 89)
  const hour = (await stats(id, '1h')).window!
  expect(hour).toMatchObject({ window: '1h', samples: 120 })
  expect(hour.avg).toMatchObject({ cpuPercent: 10, memBytes: 61, diskBytes: 5 })
  expect(hour.peak.memBytes).toBe(91)
  expect((await stats(id, '24h')).window).toMatchObject({ samples: 180, avg: { memBytes: 46 } })
  expect((await stats((await world.create()).id, '1h')).window).toMatchObject({
    samples: 0,
    peak: { memBytes: 0 },
  })
})

it('counts an unwritten minute only within the window', async () => {
  const { id } = await world.create()
  for (let n = 0; n < 3; n++) {
    await report(sampleOf(id))
    world.clock.advance(10_000)
  }
  expect((await stats(id, '1h')).window!.samples).toBe(3)
  await stopDock(world.modules.context, world.caller, id, { force: false })
  world.clock.advance(2 * 3600_000)
  expect((await stats(id, '1h')).window).toMatchObject({
    samples: 0,
    avg: { memBytes: 0 },
    peak: { memBytes: 0 },
  })
  expect((await stats(id, '24h')).window!.samples).toBe(3)
})

it('counts unwritten minutes from all hosts of the Dock', async () => {
  const { id } = await world.create()
  await report(sampleOf(id, { memBytes: 400 }), sampleOf(id, { memBytes: 100 }))
  const laterHost = await secondHost(world)
  await sql`update docks set host_id = ${laterHost}, generation = 2 where id = ${id}`.execute(world.db)
  const samples = [sampleOf(id, { generation: 2, memBytes: 100 })]
  await world.modules.hostEvents.handle(laterHost, { type: 'samples', samples })
  const hour = (await stats(id, '1h')).window!
  expect(hour).toMatchObject({ samples: 3, avg: { memBytes: 200 }, peak: { memBytes: 400 } })
})

it('writes a completed minute even if its host reports no more samples', async () => {
  const { id } = await world.create()
  await world.modules.start()
  await report(sampleOf(id))
  world.clock.advance(60_000)
  await expect.poll(rows).toBe(1)
  expect((await stats(id, '1h')).window!.samples).toBe(1)
  await world.modules.stop()
  expect(await rows()).toBe(1)
})

it('drops old days, and all usage of a deleted Dock', async () => {
  const { id } = await world.create()
  for (let day = 0; day < 5; day++) {
    await report(sampleOf(id))
    world.clock.advance(24 * 3600_000)
  }
  const partitions = await sql<{ n: number }>`select count(*)::int as n from pg_inherits
    where inhparent = 'dock_usage'::regclass`.execute(world.db)
  expect(partitions.rows[0]!.n).toBe(2)
  expect(await rows()).toBe(2)
  await deleteDock(world.modules.context, world.caller, id, id)
  expect(await rows()).toBe(0)
})

it('writes unwritten minutes at shutdown', async () => {
  const { id } = await world.create()
  await report(sampleOf(id))
  await world.modules.stop()
  expect(await rows()).toBe(1)
})

it('alerts once when a disk fills, and again after it fell below the mark', async () => {
  const { id } = await world.create({ name: 'hog' })
  const other = await world.create()
  const used = (percent: number) =>
    report(sampleOf(id, { diskBytes: (gib * percent) / 100 }), sampleOf(other.id))
  const steps: [number, string[]][] = [
    [89, []],
    [91, ['disk_warning']],
    [92, ['disk_warning']],
    [98, ['disk_warning', 'disk_full']],
    [95, ['disk_warning', 'disk_full']],
    [99, ['disk_warning', 'disk_full', 'disk_full']],
    [50, ['disk_warning', 'disk_full', 'disk_full']],
    [99, ['disk_warning', 'disk_full', 'disk_full', 'disk_full']],
  ]
  for (const [percent, types] of steps) {
    world.clock.advance(10_000)
    await used(percent)
    expect([percent, await told()]).toEqual([percent, types])
  }
  // Another process, which has no cached levels, does not repeat the alert.
  const samples = [sampleOf(id, { diskBytes: gib })]
  await world.another().hostEvents.handle(world.hostId, { type: 'samples', samples })
  expect(await told()).toHaveLength(4)
})

it.each(['docks', 'notifications'])(
  'alerts once with the next sample if the table %s was unavailable at the first',
  async (table) => {
    const { id } = await world.create()
    const used = (percent: number) => report(sampleOf(id, { diskBytes: (gib * percent) / 100 }))
    await used(50)
    await sql`alter table ${sql.table(table)} rename to away`.execute(world.db)
    await expect(used(91)).rejects.toThrow(`"${table}" does not exist`)
    await sql`alter table away rename to ${sql.table(table)}`.execute(world.db)
    expect(await told()).toEqual([])
    await used(91)
    await used(91)
    expect(await told()).toEqual(['disk_warning'])
  },
)

it('does not show stats to a stranger', async () => {
  const { id } = await world.create()
  const refused = { code: 'dock_not_found' }
  await expect(readDockStats(world.modules.context, world.stranger, id, {})).rejects.toMatchObject(refused)
  await expect(readDockStats(world.modules.context, world.caller, newUuid(), {})).rejects.toBeInstanceOf(
    ServiceError,
  )
})
