import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { inventoryOf } from '@dock/testkit/src/docks/fake-host.ts'
import { secondHost } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { resumeDock } from '../boot/resume-dock.ts'
import { stopDock } from '../stop/stop-dock.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const stop = (id: string) => stopDock(world.modules.context, world.caller, id, { force: false })
/** Makes the host remember a later start of this epoch, as after a restore of the database. */
const restored = () => {
  world.host.instance = {
    watermark: { epoch: world.modules.context.epoch(), startId: newUuid(), mark: 3 },
    erasures: [],
  }
  world.clock.advance(10_000)
}
const snapshotsOf = async (dockId: string) =>
  (
    await sql<{ id: string; status: string; hostId: string | null }>`
      select id, status, host_id as "hostId" from snapshots where dock_id = ${dockId}`.execute(world.db)
  ).rows

it('after a restore, boots get generations that cannot have been used in the lost time', async () => {
  const dock = await world.create()
  await stop(dock.id)
  restored()
  await world.report()
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  const first = world.modules.context.epoch() * 1_000_000
  expect(first).toBeGreaterThan(0)
  expect(world.host.starts.at(-1)?.generation).toBe(first)
  await stop(dock.id)
  await resumeDock(world.modules.context, world.caller, dock.id, {})
  expect(world.host.starts.at(-1)?.generation).toBe(first + 1)
})

it('a Snapshot whose capture was removed in the lost time becomes failed; others do not change', async () => {
  const [gone, kept] = [await world.create(), await world.create()]
  await stop(gone.id)
  await stop(kept.id)
  const [lost] = await snapshotsOf(gone.id)
  world.host.captures.delete(lost!.id)
  await world.report()
  expect(await snapshotsOf(gone.id)).toMatchObject([{ status: 'completed' }])
  restored()
  await world.report()
  expect(await snapshotsOf(gone.id)).toMatchObject([{ status: 'failed', hostId: null }])
  expect(await snapshotsOf(kept.id)).toMatchObject([{ status: 'completed', hostId: world.hostId }])
  expect(world.host.calls.filter(({ method }) => method.startsWith('destroy'))).toEqual([])
  const { rows } = await sql`select last_snapshot_at from docks where id = ${gone.id}`.execute(world.db)
  expect(rows).toEqual([{ last_snapshot_at: null }])
  // If its capture turns up after all, it is kept.
  world.host.captures.add(lost!.id)
  await world.report()
  expect(world.host.captures.has(lost!.id)).toBe(true)
})

/** The host reports without its captures, so that it is asked for a list of them. */
const reportUnnamed = async () => {
  const runtimes = [...world.host.sandboxes.values()]
  await world.modules.hostEvents.handle(
    world.hostId,
    inventoryOf({ runtimes, captures: null, remembered: world.host.instance.watermark }),
  )
  await world.modules.hostEvents.settled()
}

it.each([
  [
    'cannot be listed',
    async function* () {
      yield []
      throw new Error('the list was cut')
    },
  ],
  [
    'are too many to read',
    async function* () {
      for (;;) yield []
    },
  ],
])('captures that %s are compared with the Snapshots once they can be read', async (_, list) => {
  const [gone, kept, running] = [await world.create(), await world.create(), await world.create()]
  await stop(gone.id)
  await stop(kept.id)
  const [lost] = await snapshotsOf(gone.id)
  world.host.captures.delete(lost!.id)
  const { listCaptures } = world.host
  world.host.listCaptures = list
  restored()
  await world.beSilent()
  await reportUnnamed()
  await reportUnnamed()
  const { rows } = await sql<{ state: string }>`select state from hosts where id = ${world.hostId}
    union all select state from docks where id = ${running.id}`.execute(world.db)
  expect(rows.map(({ state }) => state)).toEqual(['online', 'ready'])
  for (const { id } of [gone, kept])
    expect(await snapshotsOf(id)).toMatchObject([{ status: 'completed', hostId: world.hostId }])
  world.host.listCaptures = listCaptures
  await reportUnnamed()
  expect(await snapshotsOf(gone.id)).toMatchObject([{ status: 'failed', hostId: null }])
  expect(await snapshotsOf(kept.id)).toMatchObject([{ status: 'completed', hostId: world.hostId }])
  expect(world.host.calls.filter(({ method }) => method.startsWith('destroy'))).toEqual([])
})

/** Adds a second host that keeps the Snapshot's capture. The Snapshot has no copy. */
const keptElsewhere = async (snapshotId: string): Promise<string> => {
  const second = await secondHost(world)
  await sql`insert into snapshot_restores (snapshot_id, host_id, state, updated_at)
    values (${snapshotId}, ${second}, 'kept', ${world.clock.now()})`.execute(world.db)
  return second
}
/** The host reports after a restore, without any captures. */
const reportAfterRestore = async (hostId: string) => {
  await world.modules.hostEvents.handle(hostId, inventoryOf({ remembered: world.host.instance.watermark }))
  await world.modules.hostEvents.settled()
}

it('a Snapshot whose capture another host keeps does not fail', async () => {
  const { id } = await world.create()
  await stop(id)
  const [snapshot] = await snapshotsOf(id)
  const second = await keptElsewhere(snapshot!.id)
  restored()
  world.host.captures.delete(snapshot!.id)
  await world.report()
  expect(await snapshotsOf(id)).toMatchObject([{ status: 'completed', hostId: second }])
  await reportAfterRestore(second)
  expect(await snapshotsOf(id)).toMatchObject([{ status: 'failed' }])
})

it('a host that lacks a restored capture is no longer recorded as its keeper', async () => {
  const { id } = await world.create()
  await stop(id)
  const [snapshot] = await snapshotsOf(id)
  const second = await keptElsewhere(snapshot!.id)
  restored()
  await reportAfterRestore(second)
  const { rows } =
    await sql`select host_id from snapshot_restores where snapshot_id = ${snapshot!.id}`.execute(world.db)
  expect(rows).toEqual([])
  expect(await snapshotsOf(id)).toMatchObject([{ status: 'completed', hostId: world.hostId }])
})

it('a Dock that ended in the lost time becomes error', async () => {
  const dock = await world.create()
  world.host.sandboxes.delete(dock.id)
  restored()
  await world.report()
  await world.modules.runner.settled()
  const { rows } = await sql`select state from docks where id = ${dock.id}`.execute(world.db)
  expect(rows).toEqual([{ state: 'error' }])
})
