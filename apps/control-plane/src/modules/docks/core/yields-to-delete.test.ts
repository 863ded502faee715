import { auditEntries } from '@dock/testkit/src/audit-entries.ts'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { unblockOperationsOfHost } from '../../../engine/index.ts'
import { removeDocks } from '../delete/remove-docks.ts'
import { deleteDock, readDock, stopDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const context = () => world.modules.context
const stateOf = async (id: string) => (await readDock(context(), world.caller, id)).state
const remove = (id: string) => deleteDock(context(), world.caller, id, id)
const stop = (id: string, force: boolean) => stopDock(context(), world.caller, id, { force })
const starts = () => world.host.calls.filter(({ method }) => method === 'start').length
const sweep = async () => {
  await world.modules.runner.sweep()
  await world.modules.runner.settled()
}
const reportAndSweep = async () => {
  await world.report()
  await sweep()
}
const operationsOf = async (id: string): Promise<{ kind: string; status: string }[]> =>
  (
    await sql<{ kind: string; status: string }>`select kind, status from operations
      where dock_id = ${id} and kind <> 'create' order by created_at, kind desc`.execute(world.db)
  ).rows

describe('a recovery that is blocked by a full pool', () => {
  let id: string
  beforeEach(async () => {
    id = (await world.create()).id
    world.host.failures.set('start', ['no_space', 'no_space'])
    await world.modules.hostEvents.handle(world.hostId, { type: 'dock.died', dockId: id, generation: 1 })
    await world.modules.runner.settled()
    await reportAndSweep()
    expect(await operationsOf(id)).toEqual([{ kind: 'recover', status: 'blocked' }])
  })

  const isNeverBootedAgain = async () => {
    const before = starts()
    await reportAndSweep()
    await world.modules.hostEvents.recoverHeld()
    await sweep()
    expect(starts()).toBe(before)
    expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
  }

  it('is replaced by a delete, which frees the disk', async () => {
    const { operation } = await remove(id)
    expect(operation.status).toBe('completed')
    expect(await outcomeOf(stateOf(id))).toBe('dock_not_found')
    expect(world.host.sandboxes.has(id)).toBe(false)
    expect(await operationsOf(id)).toEqual([
      { kind: 'recover', status: 'completed' },
      { kind: 'delete', status: 'completed' },
    ])
    await isNeverBootedAgain()
  })

  it('is replaced when its organization is removed', async () => {
    expect(await removeDocks(context(), world.organizationId)).toBe(1)
    await world.modules.runner.settled()
    expect(await removeDocks(context(), world.organizationId)).toBe(0)
    expect(world.host.sandboxes.has(id)).toBe(false)
    await isNeverBootedAgain()
  })

  it('is replaced by a forced stop, which frees the disk', async () => {
    expect(await stop(id, true)).toEqual({ id, state: 'archived' })
    expect(world.host.sandboxes.has(id)).toBe(false)
    await isNeverBootedAgain()
  })

  it('is given up, with the disk kept, if the host refuses the forced stop', async () => {
    world.host.failures.set('destroy', ['failed'])
    expect(await outcomeOf(stop(id, true))).toBe('service_unavailable')
    expect(await stateOf(id)).toBe('error')
    expect(world.host.sandboxes.has(id)).toBe(true)
    await isNeverBootedAgain()
    expect(await stop(id, false)).toEqual({ id, state: 'archived' })
  })

  it('is not replaced by a normal stop, which would have to save the disk', async () => {
    expect(await outcomeOf(stop(id, false))).toBe('dock_busy')
    await reportAndSweep()
    expect(await stateOf(id)).toBe('ready')
  })

  it('is not replaced while it is being unblocked', async () => {
    const waits = async () =>
      (
        await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(world.db)
      ).rows.length
    const removed = await world.db.transaction().execute(async (tx) => {
      await unblockOperationsOfHost(tx, world.hostId, world.clock.now())
      const removing = outcomeOf(remove(id))
      await expect.poll(waits).toBe(1)
      return { removing }
    })
    expect(await removed.removing).toBe('dock_busy')
    await sweep()
    expect(await stateOf(id)).toBe('ready')
  })

  it('is not replaced while it is being retried', async () => {
    const gate = Promise.withResolvers<void>()
    world.host.gate.set('start', gate.promise)
    const before = starts()
    await world.report()
    await world.modules.runner.sweep()
    await expect.poll(starts).toBe(before + 1)
    expect(await outcomeOf(remove(id))).toBe('dock_busy')
    expect(await outcomeOf(stop(id, true))).toBe('dock_busy')
    gate.resolve()
    await world.modules.runner.settled()
    expect(await stateOf(id)).toBe('ready')
  })
})

describe('a stop that is blocked by a silent host', () => {
  let id: string
  beforeEach(async () => {
    id = (await world.create()).id
    world.host.failures.set('stop', ['lost-after'])
    expect(await stop(id, false)).toEqual({ id, state: 'archiving' })
    expect(await operationsOf(id)).toEqual([{ kind: 'stop', status: 'blocked' }])
    expect(world.host.captures.size).toBe(1)
  })

  it('is replaced by a delete, which removes its capture too', async () => {
    const { operation } = await remove(id)
    expect(operation.status).toBe('completed')
    expect(await outcomeOf(stateOf(id))).toBe('dock_not_found')
    expect(world.host.sandboxes.has(id)).toBe(false)
    expect(world.host.captures.size).toBe(0)
    expect(await operationsOf(id)).toEqual([
      { kind: 'stop', status: 'completed' },
      { kind: 'delete', status: 'completed' },
    ])
    await reportAndSweep()
    expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
  })

  it('is replaced when its organization is removed', async () => {
    expect(await removeDocks(context(), world.organizationId)).toBe(1)
    await world.modules.runner.settled()
    expect(await removeDocks(context(), world.organizationId)).toBe(0)
    expect(world.host.captures.size).toBe(0)
  })

  it('is replaced by a delete, which stays blocked while the host is silent', async () => {
    world.host.online = false
    expect((await remove(id)).operation.status).toBe('blocked')
    world.host.online = true
    await reportAndSweep()
    expect(await outcomeOf(stateOf(id))).toBe('dock_not_found')
    expect(world.host.captures.size).toBe(0)
  })
})

it('marks the stop that a delete replaced as failed in the audit log', async () => {
  const { id } = await world.create()
  world.host.online = false
  await stop(id, false)
  expect(await operationsOf(id)).toEqual([{ kind: 'stop', status: 'blocked' }])
  await remove(id)
  const told = await auditEntries(world.db, world.organizationId)
  // The clock stands still, so that they have no order.
  expect(
    Object.fromEntries(told.map(({ action, outcome, details }) => [action, [outcome, details]])),
  ).toEqual({
    'dock.created': ['succeeded', {}],
    'dock.stopped': ['failed', { code: 'conflict' }],
    'dock.deleted': ['succeeded', {}],
  })
})
