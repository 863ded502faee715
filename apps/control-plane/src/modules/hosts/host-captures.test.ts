import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { inventoryOf } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { stopDock } from '../docks/index.ts'
import { capturesMax, listTimeoutMs } from './host-captures.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

/** A report without captures. The control plane then requests the list from the host. */
const reportUnnamed = async () => {
  const runtimes = [...world.host.sandboxes.values()]
  await world.modules.hostEvents.handle(world.hostId, inventoryOf({ runtimes, captures: null }))
  await world.modules.hostEvents.settled()
}
const quarantined = async () =>
  (
    await sql<{ id: string }>`select thing_id as id from quarantine where host_id = ${world.hostId}`.execute(
      world.db,
    )
  ).rows.map(({ id }) => id)
const hostState = async () =>
  (await sql<{ state: string }>`select state from hosts where id = ${world.hostId}`.execute(world.db)).rows[0]
    ?.state
const stateOf = async (dockId: string) =>
  (await sql<{ state: string }>`select state from docks where id = ${dockId}`.execute(world.db)).rows[0]
    ?.state
const stopped = async (): Promise<string> => {
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  const row = await sql<{ id: string }>`select id from snapshots where dock_id = ${dock.id}`.execute(world.db)
  return row.rows[0]!.id
}

/** Marks the host silent. Only a complete inventory makes it online again. */
beforeEach(() => world.beSilent())

it('from a list of any length are handled like those in an inventory', async () => {
  await world.report()
  const [kept, failed, unknown] = [await stopped(), await stopped(), newUuid()]
  await sql`update snapshots set status = 'failed' where id = ${failed}`.execute(world.db)
  world.host.captures.add(unknown)
  const many = Array.from({ length: 60_000 }, newUuid)
  await sql`insert into quarantine (id, host_id, kind, thing_id, state, first_seen_at)
    select gen_random_uuid(), ${world.hostId}, 'capture', id, 'held', now()
    from unnest(${many}::uuid[]) as m(id)`.execute(world.db)
  world.host.listCaptures = async function* () {
    for (let at = 0; at < many.length; at += 1_000) yield [{ captures: many.slice(at, at + 1_000) }]
    yield [{ captures: [...world.host.captures] }]
  }
  await world.beSilent()
  await reportUnnamed()
  expect(await hostState()).toBe('online')
  expect(world.host.captures).toEqual(new Set([kept, unknown]))
  expect(await quarantined()).toHaveLength(many.length + 1)
  expect(await quarantined()).toContain(unknown)
})

it('are not removed for their copies until these were checked after a restore of the database', async () => {
  await world.report()
  const snapshotId = await stopped()
  await sql`update snapshots set host_id = null, copied_at = now() where id = ${snapshotId}`.execute(world.db)
  await sql`insert into copies (id, organization_id, snapshot_id, verified_at, lease_owner, lease_until, created_at)
    values (${newUuid()}, ${world.organizationId}, ${snapshotId}, now(), 'test', now(), now())`.execute(
    world.db,
  )
  await sql`update instance_epoch set epoch = 1, begun_at = ${world.clock.now()}`.execute(world.db)
  await world.report()
  expect([world.host.captures.has(snapshotId), await quarantined()]).toEqual([true, []])
  await sql`update instance_epoch set copies_checked = 1`.execute(world.db)
  await world.report()
  expect([world.host.captures.has(snapshotId), await quarantined()]).toEqual([false, []])
})

it('are quarantined a thousand at a time if the database knows none of them', async () => {
  for (let each = 0; each < 1_500; each++) world.host.captures.add(newUuid())
  await reportUnnamed()
  expect(await quarantined()).toHaveLength(1_000)
  await reportUnnamed()
  expect(await quarantined()).toHaveLength(1_500)
  expect(world.host.captures.size).toBe(1_500)
})

it('stay unchanged if the host’s list is endless, and the host stays usable', async () => {
  const page = Array.from({ length: 1_000 }, newUuid)
  for (const listed of [page, []]) {
    let taken = 0
    world.host.listCaptures = async function* () {
      for (; ; taken++) yield [{ captures: listed }]
    }
    await world.beSilent()
    await reportUnnamed()
    expect(taken).toBe(capturesMax / Math.max(listed.length, 1))
    expect(await hostState()).toBe('online')
  }
  expect(await quarantined()).toEqual([])
})

/** Makes the host’s list stall after its beginning until the reader gives up. */
const listWithoutAnEnd = () => {
  const begun = Promise.withResolvers<void>()
  const state = { begun: begun.promise, isCancelled: false }
  world.host.listCaptures = async function* (_host, { signal } = {}) {
    yield [{ captures: [newUuid()] }]
    begun.resolve()
    await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
    state.isCancelled = true
    throw signal?.reason
  }
  return state
}
const listThatBreaksOff = async function* () {
  yield [{ captures: [newUuid()] }]
  throw new Error('the list was cut')
}

it('that cannot be listed now stay unchanged, while the rest of the inventory takes effect', async () => {
  await world.report()
  const failed = await stopped()
  await sql`update snapshots set status = 'failed' where id = ${failed}`.execute(world.db)
  const dock = await world.create()
  const { listCaptures } = world.host
  world.host.listCaptures = listThatBreaksOff
  await world.beSilent()
  expect(await hostState()).toBe('offline')
  await reportUnnamed()
  expect(await hostState()).toBe('online')
  expect(await stateOf(dock.id)).toBe('ready')
  expect(world.host.captures).toEqual(new Set([failed]))
  expect(await quarantined()).toEqual([])
  world.host.listCaptures = listCaptures
  await reportUnnamed()
  expect(world.host.captures).toEqual(new Set())
})

it('whose list does not end in time stay unchanged, and the list is cancelled', async () => {
  const list = listWithoutAnEnd()
  const reported = reportUnnamed()
  await list.begun
  expect(await hostState()).toBe('offline')
  world.clock.advance(listTimeoutMs)
  await reported
  expect(list.isCancelled).toBe(true)
  expect(await hostState()).toBe('online')
  expect(await quarantined()).toEqual([])
  // The host is online, so a heartbeat is accepted. It would end the session of an offline host.
  const { pressure } = inventoryOf()
  await world.modules.hostEvents.handle(world.hostId, { type: 'heartbeat', pressure, running: 0 })
  expect(world.host.disconnects.filter((reason) => reason !== 'silent for too long')).toEqual([])
})

it('whose list breaks off with the link postpone the whole inventory to the next session', async () => {
  world.host.listCaptures = async function* () {
    yield [{ captures: [newUuid()] }]
    world.host.online = false
    throw new Error('the link broke')
  }
  await expect(reportUnnamed()).rejects.toThrow('the link broke')
  expect(await hostState()).toBe('offline')
})

it('are removed if their Snapshot has an intact copy and is recorded on another host, and kept if the copy is damaged', async () => {
  await world.report()
  const [whole, damaged] = [await stopped(), await stopped()]
  const now = world.clock.now()
  for (const [id, damagedAt] of [
    [whole, null],
    [damaged, now],
  ])
    await sql`with s as (update snapshots set host_id = null, copied_at = ${now} where id = ${id} returning id)
      insert into copies (id, organization_id, snapshot_id, verified_at, damaged_at, lease_owner, lease_until, created_at)
      select ${newUuid()}, ${world.organizationId}, id, ${now}, ${damagedAt}, 'test', ${now}, ${now} from s`.execute(
      world.db,
    )
  await world.report()
  expect(world.host.captures).toEqual(new Set([damaged]))
  expect(await quarantined()).toEqual([damaged])
})
