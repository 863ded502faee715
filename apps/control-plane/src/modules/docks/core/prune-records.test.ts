/** Pruning of old records, and removal of all records of an erased organization. */
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { removeOperations } from '../../../engine/index.ts'
import { pruneOperations } from '../../../engine/prune-operations.ts'
import { pruneSignIns } from '../../accounts/index.ts'
import { pruneNotifications } from '../../notifications/index.ts'
import { deleteExpiredKeys } from '../boot/idempotency.ts'
import { deleteDock, stopDock } from '../index.ts'
import { pruneDockRecords, removeDockRecords } from './prune-records.ts'

let world: TestWorld
useTestWorld(
  async (fresh) => {
    world = fresh
    await sql`truncate operations, dock_state_changes, dock_events, idempotency_keys, sessions, verifications,
      notifications`.execute(world.db)
  },
  { alone: true },
)

const dayMs = 24 * 3_600_000
const count = async (table: string): Promise<number> =>
  (await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`.execute(world.db)).rows[0]!.n
const prune = async () => {
  const context = { db: world.db, clock: world.clock }
  await pruneOperations(context)
  await pruneDockRecords(context)
  await pruneNotifications(context)
  await pruneSignIns(context)
  await deleteExpiredKeys(world.db, world.clock.now())
}

it('keeps completed operations and state changes for 90 days, and the newest change of each Dock longer', async () => {
  const kept = await world.create()
  const gone = await world.create()
  await deleteDock(world.modules.context, world.caller, gone.id, gone.id)
  await world.modules.runner.settled()
  const changes = await count('dock_state_changes')
  world.clock.advance(90 * dayMs - 1)
  await prune()
  expect(await count('operations')).toBe(3)
  expect(await count('dock_state_changes')).toBe(changes)
  await sql`insert into operations (id, organization_id, kind, target_type, target_id, generation, status, data, cause,
      created_at, updated_at)
    select id || '-blocked', organization_id, kind, target_type, target_id, generation, 'blocked', data, cause,
      created_at, updated_at from operations limit 1`.execute(world.db)
  world.clock.advance(60_000)
  await prune()
  expect(await count('operations')).toBe(1)
  const left = await sql<{ dockId: string; to: string }>`select dock_id as "dockId", to_state as "to"
    from dock_state_changes`.execute(world.db)
  expect(left.rows).toEqual([{ dockId: kept.id, to: 'ready' }])
})

it('prunes thousands of rows in batches', async () => {
  const past = new Date(world.clock.now().getTime() - 31 * dayMs)
  await sql`insert into dock_events (id, type, dock_id, dock_state, organization_id, workspace_id, occurred_at)
    select gen_random_uuid(), 'dock.ready', gen_random_uuid(), 'ready', ${world.organizationId}, ${world.workspaceId},
      ${past}::timestamptz from generate_series(1, 2500)`.execute(world.db)
  await world.create()
  await prune()
  expect(await count('dock_events')).toBe(1)
})

it('deletes old alerts, expired sessions and links, and expired idempotency keys', async () => {
  await world.create({}, 'key')
  const user = world.caller.userId
  const at = world.clock.now()
  await sql`insert into notifications (user_id, organization_id, event_id, type, title, body, dock_id, occurred_at)
    values (${user}, ${world.organizationId}, ${newUuid()}, 'disk_full', 't', 'b', ${newUuid()}, ${at})`.execute(
    world.db,
  )
  await sql`insert into sessions (user_id, token, expires_at) values (${user}, 'over', ${at}),
    (${user}, 'live', ${new Date(at.getTime() + 365 * dayMs)})`.execute(world.db)
  await sql`insert into verifications (identifier, value, expires_at) values ('i', 'v', ${at})`.execute(
    world.db,
  )
  const counts = async () =>
    Promise.all(['notifications', 'sessions', 'verifications', 'idempotency_keys'].map(count))
  await prune()
  expect(await counts()).toEqual([1, 2, 1, 1])
  world.clock.advance(dayMs + 1)
  await prune()
  expect(await counts()).toEqual([1, 1, 0, 0])
  world.clock.advance(180 * dayMs)
  await prune()
  expect(await counts()).toEqual([0, 1, 0, 0])
})

it('removes all records of an organization whose Docks are gone, and none of another', async () => {
  const dock = await world.create({}, 'key')
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  await sql`insert into operations (id, organization_id, kind, target_type, target_id, generation, status, data, cause,
      created_at, updated_at)
    select id || '-blocked', organization_id, kind, target_type, target_id, generation, 'blocked', data, cause,
      created_at, updated_at from operations limit 1`.execute(world.db)
  const tables = ['operations', 'dock_state_changes', 'dock_events', 'idempotency_keys']
  const before = await Promise.all(tables.map(count))
  expect(before.every((n) => n > 0)).toBe(true)
  expect(await removeOperations(world.db, newUuid())).toBe(0)
  expect(await removeDockRecords(world.db, newUuid())).toBe(0)
  expect(await Promise.all(tables.map(count))).toEqual(before)
  await sql`update operations set status = 'processing' where id like '%-blocked'`.execute(world.db)
  expect(await removeOperations(world.db, world.organizationId)).toBe(1)
  await sql`update operations set status = 'blocked'`.execute(world.db)
  // Its Dock still exists, and this operation will delete it.
  expect(await removeOperations(world.db, world.organizationId)).toBe(1)
  await sql`delete from docks`.execute(world.db)
  expect(await removeOperations(world.db, world.organizationId)).toBe(0)
  expect(await removeDockRecords(world.db, world.organizationId)).toBe(0)
  expect(await Promise.all(tables.map(count))).toEqual([0, 0, 0, 0])
})
