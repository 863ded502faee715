import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { resumeDock, stopDock } from '../../docks/index.ts'
import { recordDamage } from './drill-store.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const stop = (id: string) => stopDock(world.modules.context, world.caller, id, { force: false })
const name = 'a'.repeat(64)

/** Inserts verified copies of the Snapshots, all made of one chunk. */
const copied = async (snapshotIds: readonly string[]) => {
  const { db, organizationId } = world
  await sql`insert into copy_chunks (organization_id, name, object_key, size_bytes, used_at)
    values (${organizationId}, ${name}, ${organizationId}, 1, now())`.execute(db)
  const copies = snapshotIds.map((snapshotId) => ({ id: newUuid(), organizationId, snapshotId }))
  for (const { id, snapshotId } of copies) {
    await sql`insert into copies
      (id, organization_id, snapshot_id, verified_at, lease_owner, lease_until, created_at)
      values (${id}, ${organizationId}, ${snapshotId}, now(), 'test', now(), now())`.execute(db)
    await sql`insert into copy_chunk_uses (copy_id, organization_id, name)
      values (${id}, ${organizationId}, ${name})`.execute(db)
  }
  return copies
}
const waiting = async () =>
  (
    await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(world.db)
  ).rows.length
const count = async (table: string) =>
  (
    await sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}
      where organization_id = ${world.organizationId}`.execute(world.db)
  ).rows[0]!.n

/** Creates a Dock with two Snapshots whose copies share a chunk. Returns one of the copies and the Snapshots' ids. */
const dockWithCopies = async () => {
  const { id } = await world.create()
  await stop(id)
  await resumeDock(world.modules.context, world.caller, id, {})
  await stop(id)
  const snapshots = await sql<{ id: string }>`select id from snapshots where dock_id = ${id}
    order by number`.execute(world.db)
  const snapshotIds = snapshots.rows.map((row) => row.id)
  const [copy] = await copied(snapshotIds)
  return { id, snapshotIds, copy: copy! }
}
/** Damage of the one chunk, whose object key is the organization's id. */
const damage = () => ({ chunkKeys: [world.organizationId], chunkNames: [name] })

it('removes a damaged chunk and every copy that uses it, so that they are made again', async () => {
  const { copy } = await dockWithCopies()
  expect(await recordDamage(world.db, copy, damage(), world.clock.now())).toEqual({ madeAgain: 2, lost: 0 })
  expect([await count('copies'), await count('copy_chunks')]).toEqual([0, 0])
})

it.each([0, 1])(
  'waits for a delete of the Dock that has locked Snapshot %i, without a deadlock',
  async (at) => {
    const { id, snapshotIds, copy } = await dockWithCopies()
    const { recording } = await world.db.transaction().execute(async (tx) => {
      await sql`select 1 from docks where id = ${id} for update`.execute(tx)
      await sql`select 1 from snapshots where id = ${snapshotIds[at]} for update`.execute(tx)
      const recording = recordDamage(world.db, copy, damage(), world.clock.now())
      // In a deadlock, PostgreSQL may abort either transaction. This one must not be an unhandled rejection.
      recording.catch(() => undefined)
      await expect.poll(waiting, { timeout: 20_000 }).toBe(1)
      await sql`delete from docks where id = ${id}`.execute(tx)
      return { recording }
    })
    expect(await recording).toBeNull()
    expect([await count('snapshots'), await count('copies')]).toEqual([0, 2])
  },
)

it('makes a copy again that is published while the damage is recorded', async () => {
  const { snapshotIds, copy } = await dockWithCopies()
  const { db, organizationId } = world
  await sql`update copies set verified_at = null where snapshot_id = ${snapshotIds[1]}`.execute(db)
  const { recording } = await db.transaction().execute(async (tx) => {
    await sql`update copies set verified_at = now() where snapshot_id = ${snapshotIds[1]}`.execute(tx)
    await sql`select 1 from copy_chunks where organization_id = ${organizationId} for key share`.execute(tx)
    const recording = recordDamage(db, copy, damage(), world.clock.now())
    recording.catch(() => undefined)
    await expect.poll(waiting, { timeout: 20_000 }).toBe(1)
    return { recording }
  })
  expect(await recording).toEqual({ madeAgain: 2, lost: 0 })
  expect([await count('copies'), await count('copy_chunks')]).toEqual([0, 0])
})
