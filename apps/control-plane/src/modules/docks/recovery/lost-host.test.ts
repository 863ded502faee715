import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { secondHostOnline } from '@dock/testkit/src/docks/second-host.ts'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { listUnkeptCaptures } from '../../hosts/host-store.ts'
import { latestSnapshot } from '../core/kept-snapshot.ts'
import { removeDocks } from '../delete/remove-docks.ts'
import { declareLost, deleteDock, readDock, resumeDock, stopDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const context = () => world.modules.context
const read = (id: string) => readDock(context(), world.caller, id)
const stop = (id: string, force = false) => stopDock(context(), world.caller, id, { force })
const resume = (id: string) => resumeDock(context(), world.caller, id, {})
const remove = async (id: string) => (await deleteDock(context(), world.caller, id, id)).operation.status
const declare = (hostId = world.hostId) => declareLost(world, hostId, { kind: 'operator' })
const settle = async () => {
  await world.modules.runner.sweep()
  await world.modules.runner.settled()
}
const latest = async (dockId: string) =>
  (await latestSnapshot(world.db, world.organizationId, dockId))?.id ?? null
const statusOf = async (snapshotId: string | null) =>
  (await sql<{ status: string }>`select status from snapshots where id = ${snapshotId}`.execute(world.db))
    .rows[0]?.status
const orders = async () =>
  (
    await sql<{ kind: string; thing_id: string; generation: number }>`
      select kind, thing_id, generation from host_orders
      where host_id = ${world.hostId} order by kind, created_at`.execute(world.db)
  ).rows
/** Marks the Snapshot as copied, as if the copier had made a verified copy. */
const copied = (snapshotId: string | null) =>
  sql`update snapshots set copied_at = now() where id = ${snapshotId}`.execute(world.db)
/** Disconnects the host and advances the clock until it counts as silent. */
const vanish = async (ms?: number) => {
  world.host.online = false
  await world.beSilent(ms)
}

describe('a host that is declared lost', () => {
  it('may return under another id: a capture that was never copied is kept', async () => {
    const { id } = await world.create()
    await stop(id)
    const snapshotId = (await latest(id)) ?? ''
    await vanish()
    await declare()
    expect(await statusOf(snapshotId)).toBe('failed')
    const again = await secondHostOnline(world)
    expect(await listUnkeptCaptures(world.db, again, [snapshotId])).toEqual([
      { id: snapshotId, isOver: false },
    ])
  })

  it('must be known and offline', async () => {
    expect(await outcomeOf(declare())).toBe('conflict')
    expect(await outcomeOf(declare(newUuid()))).toBe('host_not_found')
    await vanish()
    expect(await declare()).toEqual({ hostId: world.hostId, docks: 0, failedSnapshots: 0 })
    expect(await declare()).toEqual({ hostId: world.hostId, docks: 0, failedSnapshots: 0 })
  })

  it('unblocks the delete of a Dock, and removes the Dock when it returns', async () => {
    const { id } = await world.create()
    await vanish()
    expect(await remove(id)).toBe('blocked')
    await declare()
    await settle()
    expect(await outcomeOf(read(id))).toBe('dock_not_found')
    expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
    expect(world.host.sandboxes.has(id)).toBe(true)
    expect(await orders()).toEqual([{ kind: 'dock', thing_id: id, generation: 1 }])
    world.host.online = true
    await world.report()
    expect(world.host.sandboxes.has(id)).toBe(false)
    expect(await orders()).toEqual([])
  })

  it('does not prevent the removal of an organization', async () => {
    const { id } = await world.create()
    await stop((await world.create()).id)
    await vanish()
    await declare()
    await removeDocks(context(), world.organizationId)
    await world.modules.runner.settled()
    expect(await removeDocks(context(), world.organizationId)).toBe(0)
    expect((await orders()).map(({ kind }) => kind)).toEqual(['capture', 'dock'])
    expect(world.host.sandboxes.has(id)).toBe(true)
  })

  it('allows only a forced stop of its Docks, which increases their generation', async () => {
    const { id } = await world.create()
    await vanish()
    expect((await read(id)).state).toBe('unreachable')
    expect(await outcomeOf(stop(id))).toBe('conflict')
    expect(await outcomeOf(stop(id, true))).toBe('conflict')
    await declare()
    expect(await outcomeOf(stop(id))).toBe('conflict')
    expect(await stop(id, true)).toEqual({ id, state: 'archived' })
    expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
    const row = await sql`select generation, host_id from docks where id = ${id}`.execute(world.db)
    expect(row.rows).toEqual([{ generation: 2, host_id: null }])
    world.host.online = true
    await world.report()
    expect(world.host.sandboxes.has(id)).toBe(false)
    expect((await read(id)).state).toBe('archived')
  })

  it('is no longer lost when it reports', async () => {
    const { id } = await world.create()
    await vanish()
    await declare()
    world.host.online = true
    await world.report()
    expect((await read(id)).state).toBe('ready')
    await vanish()
    expect(await outcomeOf(stop(id, true))).toBe('conflict')
  })
})

describe('a host that is silent for longer than the configured limit', () => {
  it('counts as lost for the Docks that run on it', async () => {
    const { id } = await world.create()
    const other = await world.create()
    await vanish(299_000)
    expect(await outcomeOf(stop(id, true))).toBe('conflict')
    expect(await remove(other.id)).toBe('blocked')
    await world.beSilent(2_000)
    await settle()
    expect(await outcomeOf(read(other.id))).toBe('dock_not_found')
    expect(await stop(id, true)).toEqual({ id, state: 'archived' })
  })

  it('does not fail its Snapshots', async () => {
    const { id } = await world.create()
    await stop(id)
    const snapshot = await latest(id)
    await vanish(400_000)
    expect(await statusOf(snapshot)).toBe('completed')
    expect(await outcomeOf(resume(id))).toBe('no_host_capacity')
  })
})

describe('a stop that is blocked by a lost host', () => {
  let id: string
  beforeEach(async () => {
    id = (await world.create()).id
    world.host.failures.set('stop', ['lost-after'])
    expect(await stop(id)).toEqual({ id, state: 'archiving' })
    await vanish()
  })

  it('is replaced by a forced stop', async () => {
    expect(await stop(id, true)).toEqual({ id, state: 'archiving' })
    await settle()
    expect((await read(id)).state).toBe('archiving')
    await declare()
    await settle()
    expect((await read(id)).state).toBe('archiving')
    expect(await stop(id, true)).toEqual({ id, state: 'archived' })
    expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
    const saving = await sql`select 1 from snapshots where status <> 'failed' and dock_id = ${id}`.execute(
      world.db,
    )
    expect(saving.rows).toEqual([])
    world.host.online = true
    await world.report()
    expect(world.host.captures.size).toBe(0)
    expect(world.host.sandboxes.size).toBe(0)
  })

  it('is replaced by a delete', async () => {
    await declare()
    await settle()
    expect(await remove(id)).toBe('completed')
    expect(await outcomeOf(read(id))).toBe('dock_not_found')
  })
})

describe('ordered stops of a closed account', () => {
  const order = (id: string) =>
    sql`insert into ordered_stops (dock_id, generation, ordered_by, next_attempt_at)
      select id, generation, ${world.caller.userId}::uuid, ${world.clock.now()}::timestamptz
      from docks where id = ${id}`.execute(world.db)
  const ordered = async () =>
    (
      await sql`select 1 from ordered_stops s join docks d on d.id = s.dock_id
      where d.host_id = ${world.hostId} or d.organization_id = ${world.organizationId}`.execute(world.db)
    ).rows.length
  const round = async () => {
    world.clock.advance(60_000)
    await world.modules.docks.orderedStops.run()
    await world.modules.runner.settled()
  }

  it('complete when the host is lost, for unreachable Docks and blocked stops alike', async () => {
    const [unreachable, waiting] = [(await world.create()).id, (await world.create()).id]
    world.host.failures.set('stop', ['lost'])
    await stop(waiting)
    await vanish()
    for (const id of [unreachable, waiting]) await order(id)
    await round()
    expect([(await read(unreachable)).state, (await read(waiting)).state]).toEqual([
      'unreachable',
      'archiving',
    ])
    await declare()
    await settle()
    await round()
    expect([(await read(unreachable)).state, (await read(waiting)).state]).toEqual(['archived', 'archived'])
    // The next attempt is at most the longest backoff away.
    world.clock.advance(3_600_000)
    await round()
    expect(await ordered()).toBe(0)
  })
})

describe('a recovery that is blocked by a lost host', () => {
  it('is replaced by a forced stop', async () => {
    const { id } = await world.create()
    world.host.failures.set('start', ['no_space', 'no_space'])
    await world.modules.hostEvents.handle(world.hostId, { type: 'dock.died', dockId: id, generation: 1 })
    await world.modules.runner.settled()
    await vanish()
    await declare()
    await settle()
    expect((await read(id)).state).toBe('provisioning')
    expect(await stop(id, true)).toEqual({ id, state: 'archived' })
    expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
  })
})

describe('Snapshots of a host that is declared lost', () => {
  let id: string
  let older: string | null
  let newer: string | null
  beforeEach(async () => {
    id = (await world.create()).id
    await stop(id)
    older = await latest(id)
    await copied(older)
    await resume(id)
    await stop(id)
    newer = await latest(id)
    expect(newer).not.toBe(older)
  })

  it('block resume until the declaration; then an older one is used', async () => {
    const second = await secondHostOnline(world)
    world.host.hostsWithControlLink = () => [second]
    await vanish()
    await sql`update hosts set state = 'online', last_heartbeat_at = ${world.clock.now()}
      where id = ${second}`.execute(world.db)
    world.host.online = true
    expect(await outcomeOf(resume(id))).toBe('no_host_capacity')
    expect(await declare()).toMatchObject({ failedSnapshots: 1 })
    expect([await statusOf(newer), await statusOf(older)]).toEqual(['failed', 'completed'])
    // There is no real copy in this test, so the capture is recorded on the second host as if it had been restored.
    await sql`update snapshots set host_id = ${second} where id = ${older}`.execute(world.db)
    const answer = await resume(id)
    expect(answer).toEqual({ id, state: 'ready' })
    expect(world.host.starts.at(-1)?.source).toEqual({ kind: 'capture', captureId: older })
    expect((await read(id)).hostId).toBe(second)
  })

  const comeBack = async () => {
    world.host.online = true
    await world.report()
  }

  it('are completed again if the host returns', async () => {
    await vanish()
    await declare()
    expect(await latest(id)).toBe(older)
    await comeBack()
    expect(await latest(id)).toBe(newer)
    expect(world.host.captures.has(String(newer))).toBe(true)
    expect(await resume(id)).toEqual({ id, state: 'ready' })
  })

  it('are completed again if their Dock runs on the host that returns', async () => {
    await resume(id)
    await vanish()
    await declare()
    await comeBack()
    expect((await read(id)).state).toBe('ready')
    expect([await statusOf(newer), await latest(id)]).toEqual(['completed', newer])
  })

  it('are completed again if their Dock was stopped by force, which then resumes from the newest', async () => {
    await resume(id)
    await vanish()
    await declare()
    expect(await stop(id, true)).toEqual({ id, state: 'archived' })
    await comeBack()
    expect(await resume(id)).toEqual({ id, state: 'ready' })
    expect(world.host.starts.at(-1)?.source).toEqual({ kind: 'capture', captureId: newer })
  })

  it('stay older than a Snapshot that the Dock made elsewhere meanwhile', async () => {
    await vanish()
    await declare()
    // As if the Dock had been resumed and stopped on the second host.
    const elsewhere = newUuid()
    await sql`insert into snapshots (id, dock_id, organization_id, status, runtime, host_id, disk_gib, created_at)
      select ${elsewhere}::uuid, dock_id, organization_id, 'completed', runtime, ${await secondHostOnline(world)}::uuid,
        disk_gib, created_at + interval '1 minute' from snapshots where id = ${newer}`.execute(world.db)
    await sql`update docks set state_changed_at = ${new Date(world.clock.now().getTime() + 1)}
      where id = ${id}`.execute(world.db)
    await comeBack()
    expect([await statusOf(newer), await latest(id)]).toEqual(['completed', elsewhere])
  })

  it('stay failed if the host returns without their captures', async () => {
    await vanish()
    await declare()
    world.host.captures.delete(String(newer))
    await comeBack()
    expect([await statusOf(newer), await latest(id)]).toEqual(['failed', older])
  })
})
