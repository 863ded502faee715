/** Operations that were running when the database was backed up and are resumed after its restore. */
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { inventoryOf } from '@dock/testkit/src/docks/fake-host.ts'
import { abandonDuring, callsOf, restoreAndResume } from '@dock/testkit/src/docks/lost-time-world.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { removeDocks } from '../delete/remove-docks.ts'
import { branchDock, deleteDock, resumeDock, stopDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

/** Simulates that the Dock was stopped and resumed in the lost time. */
const goOn = (dockId: string, generation: number) =>
  world.host.sandboxes.set(dockId, { dockId, generation, state: 'running', ip: '10.0.0.9' })

const stop = (id: string) => stopDock(world.modules.context, world.caller, id, { force: false })
const dockOf = async (id: string) =>
  (
    await sql<{ state: string; generation: number; hostId: string | null; hasDisk: boolean }>`
      select state, generation, host_id as "hostId", has_disk as "hasDisk" from docks where id = ${id}`.execute(
      world.db,
    )
  ).rows[0]
const snapshotsOf = async (dockId: string) =>
  (
    await sql<{ id: string; status: string; sizeBytes: number }>`
      select id, status, size_bytes as "sizeBytes" from snapshots where dock_id = ${dockId}`.execute(world.db)
  ).rows
const ordersOf = async () =>
  (await sql`select kind from host_orders where host_id = ${world.hostId}`.execute(world.db)).rows
/** Checks that nothing on the host was destroyed or ordered removed. */
const expectNothingDestroyed = async () => {
  const destroyed = world.host.calls.filter(({ method }) => method.startsWith('destroy'))
  expect([destroyed, await ordersOf()]).toEqual([[], []])
}

it('a stop whose Dock was booted again since keeps its capture as a Snapshot, and the Dock keeps running', async () => {
  const dock = await world.create()
  await abandonDuring(world, 'stop', () => stop(dock.id))
  const [saving] = await snapshotsOf(dock.id)
  world.host.captures.add(saving!.id)
  goOn(dock.id, 2)
  await restoreAndResume(world)
  expect(await snapshotsOf(dock.id)).toMatchObject([{ status: 'completed', sizeBytes: 1234 }])
  expect(await dockOf(dock.id)).toMatchObject({ state: 'ready', generation: 2, hostId: world.hostId })
  await expectNothingDestroyed()
})

it('a stop whose capture was removed in the lost time fails, and orders no removal', async () => {
  const dock = await world.create()
  await abandonDuring(world, 'stop', () => stop(dock.id))
  goOn(dock.id, 2)
  await restoreAndResume(world)
  expect(await snapshotsOf(dock.id)).toMatchObject([{ status: 'failed' }])
  expect(await dockOf(dock.id)).toMatchObject({ state: 'ready', generation: 2 })
  await expectNothingDestroyed()
  // If the capture exists after all, it goes to quarantine for an admin to see.
  const [failed] = await snapshotsOf(dock.id)
  world.host.captures.add(failed!.id)
  await world.report()
  const { rows } = await sql`select kind from quarantine where thing_id = ${failed!.id}`.execute(world.db)
  expect(rows).toEqual([{ kind: 'capture' }])
})

it('a stop that runs only after the restore archives as usual', async () => {
  const dock = await world.create()
  await abandonDuring(world, 'stop', () => stop(dock.id))
  await restoreAndResume(world)
  expect(await dockOf(dock.id)).toMatchObject({ state: 'archived' })
  expect(await snapshotsOf(dock.id)).toMatchObject([{ status: 'completed' }])
})

it('a branch continues from the capture that it took in the lost time', async () => {
  const source = await world.create()
  const branch = () =>
    branchDock(world.modules.context, world.caller, source.id, { ttlSeconds: null, noEnv: false }, undefined)
  await abandonDuring(world, 'capture', branch)
  const [saving] = await snapshotsOf(source.id)
  world.host.captures.add(saving!.id)
  goOn(source.id, 2)
  await restoreAndResume(world)
  expect(await snapshotsOf(source.id)).toMatchObject([{ status: 'completed', sizeBytes: 1234 }])
  const { rows } = await sql`select state from docks
    where id <> ${source.id} and organization_id = ${world.organizationId}`.execute(world.db)
  expect(rows).toContainEqual({ state: 'ready' })
  expect(await dockOf(source.id)).toMatchObject({ state: 'ready', generation: 2 })
  await expectNothingDestroyed()
})

it.each(['create', 'resume'] as const)('a %s whose Dock has changed since destroys nothing', async (kind) => {
  const { context } = world.modules
  let id = newUuid()
  if (kind === 'create') {
    await abandonDuring(world, 'start', () => world.create())
    id = String(callsOf(world, 'start').at(-1)?.dockId)
  } else {
    id = (await world.create()).id
    await stop(id)
    await abandonDuring(world, 'start', () => resumeDock(context, world.caller, id, {}))
  }
  const { generation } = (await dockOf(id))!
  goOn(id, generation + 1)
  await restoreAndResume(world)
  expect(await dockOf(id)).toMatchObject({
    state: 'error',
    generation: generation + 1,
    hostId: world.hostId,
    hasDisk: true,
  })
  expect(world.host.sandboxes.get(id)).toMatchObject({ generation: generation + 1, state: 'running' })
  await expectNothingDestroyed()
  expect(await world.reserved()).toMatchObject({ slots: 1, recounted: 1 })
  await stop(id)
  await resumeDock(context, world.caller, id, {})
  expect(await dockOf(id)).toMatchObject({ state: 'ready' })
})

it('a create that its host refuses as busy is not started on another host', async () => {
  await abandonDuring(world, 'start', () => world.create())
  const id = String(callsOf(world, 'start').at(-1)?.dockId)
  goOn(id, 1)
  world.host.failures.set('start', ['busy'])
  await restoreAndResume(world)
  expect(await dockOf(id)).toMatchObject({ state: 'error', hostId: world.hostId, hasDisk: true })
  await expectNothingDestroyed()
})

it('a resume that fails for an unknown reason waits in error, and a forced stop gives its Snapshot back', async () => {
  const { context } = world.modules
  const { id } = await world.create()
  await stop(id)
  await abandonDuring(world, 'start', () => resumeDock(context, world.caller, id, {}))
  world.host.failures.set('start', ['failed'])
  await restoreAndResume(world)
  expect(await dockOf(id)).toMatchObject({ state: 'error', hostId: world.hostId, hasDisk: true })
  // No report can settle it, because a host may have more than it lists.
  await world.report()
  expect(await dockOf(id)).toMatchObject({ state: 'error', hostId: world.hostId, hasDisk: true })
  await expectNothingDestroyed()
  await expect(stop(id)).rejects.toThrow()
  expect(await dockOf(id)).toMatchObject({ state: 'error', hostId: world.hostId, hasDisk: true })
  await stopDock(context, world.caller, id, { force: true })
  expect(await dockOf(id)).toMatchObject({ state: 'archived', hostId: null, hasDisk: false })
  expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
  await resumeDock(context, world.caller, id, {})
  expect(await dockOf(id)).toMatchObject({ state: 'ready' })
  expect(world.host.starts.at(-1)?.source).toMatchObject({ kind: 'capture' })
})

it('a start without room on its host fails as usual', async () => {
  const { id } = await world.create()
  await stop(id)
  await abandonDuring(world, 'start', () => resumeDock(world.modules.context, world.caller, id, {}))
  world.host.failures.set('start', ['no_space'])
  await restoreAndResume(world)
  expect(await dockOf(id)).toMatchObject({ state: 'archived', hostId: null, hasDisk: false })
  expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
})

it('an inherited start blocks on its silent host, orders no removal, and finds the later state', async () => {
  await abandonDuring(world, 'start', () => world.create())
  const id = String(callsOf(world, 'start').at(-1)?.dockId)
  goOn(id, 1)
  world.clock.advance(10_000)
  world.host.online = false
  const next = world.another()
  await next.start()
  const statusOf = async () =>
    (await sql<{ status: string }>`select status from operations where dock_id = ${id}`.execute(world.db))
      .rows[0]?.status
  await expect.poll(statusOf, { timeout: 30_000 }).toBe('blocked')
  await next.stop()
  expect(await ordersOf()).toEqual([])
  world.host.online = true
  await restoreAndResume(world)
  expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 1, state: 'running' })
  expect(await dockOf(id)).toMatchObject({ state: 'ready', hostId: world.hostId })
  await expectNothingDestroyed()
})

describe('a branch that waits with its source for the silent host', () => {
  let sourceId: string
  let id: string
  let next: ReturnType<TestWorld['another']>
  const unfinished = async () =>
    (
      await sql<{ kind: string; status: string }>`select kind, status from operations
        where dock_id in (${sourceId}, ${id}) and status <> 'completed'`.execute(world.db)
    ).rows
  const remove = () => deleteDock(next.context, world.caller, id, id)
  beforeEach(async () => {
    await sql`update instance_epoch set epoch = 0, begun_at = null`.execute(world.db)
    sourceId = (await world.create()).id
    await abandonDuring(world, 'capture', () =>
      branchDock(
        world.modules.context,
        world.caller,
        sourceId,
        { ttlSeconds: null, noEnv: false },
        undefined,
      ),
    )
    const made = await sql<{ id: string }>`select id from docks
      where id <> ${sourceId} and organization_id = ${world.organizationId}`.execute(world.db)
    id = made.rows[0]!.id
    world.clock.advance(10_000)
    world.host.online = false
    next = world.another()
    await next.start()
    await expect.poll(unfinished, { timeout: 30_000 }).toContainEqual({ kind: 'branch', status: 'blocked' })
  })
  afterEach(() => next.stop())

  it('is not replaced, so that it releases the source', async () => {
    expect(await outcomeOf(remove())).toBe('dock_busy')
    expect(await outcomeOf(stopDock(next.context, world.caller, id, { force: true }))).toBe('dock_busy')
    expect(await removeDocks(next.context, world.organizationId)).toBeGreaterThanOrEqual(2)
    await next.runner.settled()
    expect(await unfinished()).toContainEqual({ kind: 'branch', status: 'blocked' })
  })

  it('releases the source once the host is lost, and can then be deleted', async () => {
    await outcomeOf(remove())
    await world.beSilent(310_000, next)
    await expect.poll(unfinished, { timeout: 30_000 }).toEqual([])
    expect(await snapshotsOf(sourceId)).toMatchObject([{ status: 'failed' }])
    // The host may have made the capture in the lost time, so its removal is not ordered.
    expect(await ordersOf()).toEqual([])
    await world.beSilent(1_000, next)
    expect(await dockOf(sourceId)).toMatchObject({ state: 'unreachable' })
    expect((await remove()).operation.status).toBe('completed')
  })

  it('releases the source when the host returns, and can then be deleted', async () => {
    await outcomeOf(remove())
    world.host.online = true
    world.host.failures.set('capture', ['failed'])
    await next.hostEvents.handle(world.hostId, inventoryOf({ runtimes: [...world.host.sandboxes.values()] }))
    await next.runner.sweep()
    await next.runner.settled()
    expect(await unfinished()).toEqual([])
    expect(await dockOf(sourceId)).toMatchObject({ state: 'ready' })
    expect((await remove()).operation.status).toBe('completed')
  })
})

it('an inherited start whose host is lost keeps the Dock for its owner', async () => {
  await sql`update instance_epoch set epoch = 0, begun_at = null`.execute(world.db)
  await abandonDuring(world, 'start', () => world.create())
  const id = String(callsOf(world, 'start').at(-1)?.dockId)
  world.clock.advance(10_000)
  await sql`update hosts set state = 'offline', lost_at = ${world.clock.now()} where id = ${world.hostId}`.execute(
    world.db,
  )
  world.host.online = false
  const next = world.another()
  await next.start()
  await expect.poll(async () => (await dockOf(id))?.state, { timeout: 30_000 }).toBe('error')
  await next.runner.settled()
  await next.stop()
  expect(await dockOf(id)).toMatchObject({ hostId: world.hostId, hasDisk: true })
  await expectNothingDestroyed()
})

it('a delete completes if the host keeps a later generation, which is not destroyed', async () => {
  const dock = await world.create()
  goOn(dock.id, 2)
  await deleteDock(world.modules.context, world.caller, dock.id, dock.id)
  await world.modules.runner.settled()
  expect(await dockOf(dock.id)).toBeUndefined()
  expect(world.host.sandboxes.get(dock.id)).toMatchObject({ generation: 2 })
})
