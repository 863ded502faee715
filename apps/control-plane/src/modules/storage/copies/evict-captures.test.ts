import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { stopDock } from '../../docks/index.ts'
import { HostUnreachable } from '../../hosts/index.ts'
import { evictCaptures } from './evict-captures.ts'

const copiedCapturesMax = 10_000

let world: TestWorld
let dockId: string
useTestWorld((fresh) => {
  world = fresh
})
beforeEach(async () => {
  dockId = (await world.create()).id
  await stopDock(world.modules.context, world.caller, dockId, { force: false })
})

/** Adds captures of Snapshots to the host. The Snapshots were made a day apart, the last one today. */
const keep = async (count: number, isCopied = true): Promise<void> => {
  const { rows } = await sql<{ id: string }>`
    insert into snapshots (id, dock_id, organization_id, status, size_bytes, runtime, host_id, disk_gib, created_at,
      copied_at)
    select gen_random_uuid(), ${dockId}, ${world.organizationId}, 'completed', 1, 'gvisor', ${world.hostId}, 1,
      ${world.clock.now()}::timestamptz - make_interval(days => ${count}::int - g), case when ${isCopied} then now() end
    from generate_series(1, ${count}::int) g returning id`.execute(world.db)
  for (const { id } of rows) world.host.captures.add(id)
}
const evict = () => evictCaptures(world.modules.context)
const oldestKept = async () =>
  (
    await sql<{ at: Date }>`select min(created_at) as at from snapshots
      where host_id = ${world.hostId} and copied_at is not null`.execute(world.db)
  ).rows[0]!.at

it('evicts the captures beyond the maximum of a host, least recently used first', async () => {
  await keep(copiedCapturesMax)
  expect(await evict()).toBe(0)
  await keep(130)
  const before = await oldestKept()
  const captures = world.host.captures.size
  expect([await evict(), await evict(), await evict()]).toEqual([100, 30, 0])
  expect(world.host.captures.size).toBe(captures - 130)
  expect((await oldestKept()).getTime()).toBe(before.getTime() + 130 * 86_400_000)
})

it('counts restored captures, but no captures without a copy', async () => {
  await keep(copiedCapturesMax)
  await keep(50, false)
  expect(await evict()).toBe(0)
  await sql`with moved as (update snapshots set host_id = null where id in (
      select id from snapshots where host_id = ${world.hostId} and copied_at is not null limit 5) returning id)
    insert into snapshot_restores (snapshot_id, host_id, state, updated_at)
    select id, ${world.hostId}, 'kept', now() from moved`.execute(world.db)
  expect(await evict()).toBe(0)
  await keep(5)
  expect(await evict()).toBe(5)
})

it('leaves captures to orders if the host disconnects', async () => {
  await keep(copiedCapturesMax + 3)
  const asked: string[] = []
  const gateway = {
    ...world.host,
    destroyCapture: async ({ captureId }: { captureId: string }) => {
      asked.push(captureId)
      throw new HostUnreachable('the link broke')
    },
  }
  expect(await evictCaptures({ ...world.modules.context, gateway })).toBe(3)
  expect(asked).toHaveLength(1)
  const ordered = await sql<{ n: number }>`select count(*)::int as n from host_orders
    where host_id = ${world.hostId} and kind = 'capture'`.execute(world.db)
  expect(ordered.rows).toEqual([{ n: 3 }])
})

it('evicts nothing until the copies were checked after a restore of the database', async () => {
  await keep(copiedCapturesMax + 1)
  await sql`update instance_epoch set epoch = 1, begun_at = ${world.clock.now()}`.execute(world.db)
  expect(await evict()).toBe(0)
  await sql`update instance_epoch set copies_checked = 1`.execute(world.db)
  expect(await evict()).toBe(1)
})
