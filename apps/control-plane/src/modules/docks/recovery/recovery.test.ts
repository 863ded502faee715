import { ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { eachInAWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { branchDock, deleteDock, readDock, stopDock } from '../index.ts'

let world: TestWorld
eachInAWorld((fresh) => {
  world = fresh
})

const stateOf = async (id: string) => (await readDock(world.modules.context, world.caller, id)).state
const stateOfHost = async () =>
  (await sql<{ state: string }>`select state from hosts where id = ${world.hostId}`.execute(world.db)).rows[0]
    ?.state
const stop = (id: string) => stopDock(world.modules.context, world.caller, id, { force: false })
const died = (dockId: string, generation: number) =>
  world.modules.hostEvents.handle(world.hostId, { type: 'dock.died', dockId, generation })
const reportDead = async (id: string) => {
  const sandbox = world.host.sandboxes.get(id)!
  world.host.sandboxes.set(id, { ...sandbox, state: 'dead' })
  await world.report()
}
const settle = async () => {
  await world.modules.runner.sweep()
  await world.modules.runner.settled()
}
const heartbeat = () =>
  world.modules.hostEvents.handle(world.hostId, {
    type: 'heartbeat',
    running: 1,
    pressure: { memAvailableBytes: 8 * 1024 ** 3, diskFreeBytes: 50 * 1024 ** 3 },
  })
const inbox = async (dockId: string): Promise<string[]> =>
  (
    await sql<{
      type: string
    }>`select type from notifications where dock_id = ${dockId} order by occurred_at, id`.execute(world.db)
  ).rows.map((row) => row.type)
const eventsOf = async (id: string): Promise<string[]> =>
  (
    await sql<{ type: string }>`select type from dock_events where dock_id = ${id}`.execute(world.db)
  ).rows.map((row) => row.type)
const slots = async () => {
  const { slots: counted, recounted } = await world.reserved()
  expect(counted).toBe(recounted)
  return counted
}

describe('a silent host', () => {
  it('makes its Docks unreachable, tells once, and has them back as they were', async () => {
    const [ready, idle] = [(await world.create()).id, (await world.create()).id]
    await sql`update docks set state = 'idle' where id = ${idle}`.execute(world.db)
    await world.beSilent(29_000)
    expect(await stateOf(ready)).toBe('ready')
    await world.beSilent(2_000)
    await world.beSilent()
    expect([await stateOf(ready), await stateOf(idle)]).toEqual(['unreachable', 'unreachable'])
    expect(await inbox(ready)).toEqual(['stopped_responding'])
    await world.report()
    expect([await stateOf(ready), await stateOf(idle)]).toEqual(['ready', 'idle'])
    expect(await inbox(ready)).toEqual(['stopped_responding'])
    expect(world.host.calls.filter((call) => call.method === 'start')).toHaveLength(2)
  })

  it('is found by a process that did not see it fall silent, after a grace of its own', async () => {
    const { id } = await world.create()
    world.clock.advance(60_000)
    const next = world.another()
    await world.beSilent(29_000, next)
    expect([await stateOfHost(), await stateOf(id)]).toEqual(['online', 'ready'])
    await world.beSilent(2_000, next)
    expect([await stateOfHost(), await stateOf(id)]).toEqual(['offline', 'unreachable'])
  })

  it('is not found by a process that heard nobody itself, but 30 s later if it says nothing then', async () => {
    const { id } = await world.create()
    await world.beSilent(20_000)
    await heartbeat()
    await world.beSilent(20_000)
    world.clock.advance(31_000)
    await world.modules.hostEvents.noticeSilence()
    expect([await stateOfHost(), await stateOf(id)]).toEqual(['online', 'ready'])
    await heartbeat()
    await world.beSilent(29_000)
    expect([await stateOfHost(), await inbox(id), world.host.disconnects]).toEqual(['online', [], []])
    await world.beSilent(2_000)
    expect([await stateOfHost(), await stateOf(id)]).toEqual(['offline', 'unreachable'])
  })

  it.each([0, 50_000])(
    'is not found by a process that had no database %i ms after it began, but 30 s later',
    async (age) => {
      const { id } = await world.create()
      await world.beSilent(age / 2)
      await heartbeat()
      await world.beSilent(age / 2)
      await sql`alter table hosts rename to hosts_away`.execute(world.db)
      for (let second = 0; second < 31; second++) {
        world.clock.advance(1_000)
        await expect(world.modules.hostEvents.noticeSilence()).rejects.toThrow('hosts')
      }
      await sql`alter table hosts_away rename to hosts`.execute(world.db)
      await world.modules.hostEvents.noticeSilence()
      await world.beSilent(29_000)
      expect([await stateOfHost(), await inbox(id)]).toEqual(['online', []])
      await world.beSilent(2_000)
      expect([await stateOfHost(), await inbox(id)]).toEqual(['offline', ['stopped_responding']])
    },
  )

  it('counts as online again by an inventory only: a heartbeat alone closes its session', async () => {
    const { id } = await world.create()
    await heartbeat()
    expect(world.host.disconnects).toEqual([])
    await world.beSilent()
    expect(world.host.disconnects).toHaveLength(1)
    await heartbeat()
    expect(world.host.disconnects).toHaveLength(2)
    expect(await stateOf(id)).toBe('unreachable')
    await world.report()
    await heartbeat()
    expect(world.host.disconnects).toHaveLength(2)
  })

  it('never leaves a Dock unreachable that came back at that very moment', async () => {
    const docks = await Promise.all(Array.from({ length: 4 }, () => world.create()))
    await world.beSilent()
    for (let round = 0; round < 5; round++) {
      await sql`update hosts set state = 'offline' where id = ${world.hostId}`.execute(world.db)
      await Promise.all([world.modules.hostEvents.noticeSilence(), world.report()])
      for (const { id } of docks) expect(await stateOf(id)).toBe('ready')
    }
  })

  it('keeps a delete waiting, which goes on when it is back', async () => {
    const { id } = await world.create()
    await world.beSilent()
    world.host.failures.set('destroy', ['lost'])
    const { operation } = await deleteDock(world.modules.context, world.caller, id, id)
    expect(operation.status).toBe('blocked')
    await world.report()
    await settle()
    await expect(stateOf(id)).rejects.toThrow(ServiceError)
    expect(await slots()).toBe(0)
  })

  it('has a stop that waits for it tried again by asking for the same', async () => {
    const { id } = await world.create()
    world.host.failures.set('stop', ['lost'])
    expect(await stop(id)).toEqual({ id, state: 'archiving' })
    expect(await stop(id)).toEqual({ id, state: 'archiving' })
    await expect.poll(() => stateOf(id), { timeout: 60_000 }).toBe('archived')
  })

  it('boots anew what it lost while nobody heard it', async () => {
    const { id } = await world.create()
    await world.beSilent()
    world.host.sandboxes.set(id, { dockId: id, generation: 1, state: 'stopped', ended: 'reboot', ip: null })
    await world.report()
    await settle()
    expect(await stateOf(id)).toBe('ready')
    expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 2, state: 'running' })
    expect(await inbox(id)).toEqual(['stopped_responding'])
  })
})

describe('a Dock whose runtime died', () => {
  it('boots again from its own disk and tells so, without the events of a start', async () => {
    const { id } = await world.create({ ttlSeconds: 3600 })
    const stopAt = async () =>
      (await sql<{ at: Date }>`select stop_at as at from docks where id = ${id}`.execute(world.db)).rows[0]!
        .at
    const before = await stopAt()
    world.clock.advance(60_000)
    await died(id, 1)
    await settle()
    expect(await stateOf(id)).toBe('ready')
    expect(world.host.calls.at(-1)).toMatchObject({ method: 'start', body: { source: { kind: 'own' } } })
    expect(await eventsOf(id)).toEqual(['dock.ready'])
    expect(await inbox(id)).toEqual(['auto_recovered'])
    expect(await stopAt()).toEqual(before)
    expect(await slots()).toBe(1)
  })

  it.each([
    ['word of its death', (id: string) => died(id, 1)],
    ['an inventory', reportDead],
  ])('boots again as soon as the operation that held it is over, after %s', async (_, tell) => {
    const { id } = await world.create()
    const { promise, resolve } = Promise.withResolvers<void>()
    world.host.gate.set('capture', promise)
    const branch = branchDock(world.modules.context, world.caller, id, { ttlSeconds: null }, undefined)
    await expect.poll(() => world.host.calls.some(({ method }) => method === 'capture')).toBe(true)
    await tell(id)
    await world.modules.hostEvents.recoverHeld()
    expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 1 })
    world.host.failures.set('capture', ['failed'])
    resolve()
    await expect(branch).rejects.toThrow(ServiceError)
    await settle()
    await world.modules.hostEvents.recoverHeld()
    await settle()
    expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 2, state: 'running' })
    expect(await stateOf(id)).toBe('ready')
    await world.modules.hostEvents.recoverHeld()
    await settle()
    expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 2 })
    expect(await inbox(id)).toEqual(['auto_recovered'])
  })

  it('is asked after, but not claimed again and again, while an operation holds it', async () => {
    const { id } = await world.create()
    world.host.failures.set('destroy', ['lost'])
    const { operation } = await deleteDock(world.modules.context, world.caller, id, id)
    expect(operation.status).toBe('blocked')
    await sql`update docks set state = 'ready' where id = ${id}`.execute(world.db)
    await died(id, 1)
    await world.db.transaction().execute(async (tx) => {
      await sql`select 1 from docks where id = ${id} for update`.execute(tx)
      // A claim would wait for the row.
      await world.modules.hostEvents.recoverHeld()
    })
    await sql`update operations set status = 'completed' where id = ${operation.id}`.execute(world.db)
    await world.modules.hostEvents.recoverHeld()
    await settle()
    expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 2, state: 'running' })
  })

  it.each([
    ['word of its death', (id: string) => died(id, 1)],
    ['an inventory', reportDead],
  ])('while it was stopped boots again once the stop has failed, after %s', async (_, tell) => {
    const { id } = await world.create()
    const { promise, resolve } = Promise.withResolvers<void>()
    world.host.gate.set('stop', promise)
    const stopping = stop(id)
    await expect.poll(() => world.host.calls.some(({ method }) => method === 'stop')).toBe(true)
    await tell(id)
    world.host.failures.set('stop', ['failed'])
    resolve()
    await expect(stopping).rejects.toThrow(ServiceError)
    await settle()
    await world.modules.hostEvents.recoverHeld()
    await settle()
    expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 2, state: 'running' })
    expect(await stateOf(id)).toBe('ready')
  })

  it('while it was stopped stays archived once the stop has come through', async () => {
    const { id } = await world.create()
    const { promise, resolve } = Promise.withResolvers<void>()
    world.host.gate.set('stop', promise)
    const stopping = stop(id)
    await expect.poll(() => world.host.calls.some(({ method }) => method === 'stop')).toBe(true)
    await died(id, 1)
    resolve()
    await stopping
    await world.modules.hostEvents.recoverHeld()
    await settle()
    expect(await stateOf(id)).toBe('archived')
    expect(world.host.calls.filter(({ method }) => method === 'start')).toHaveLength(1)
  })

  it('three times in ten minutes; the fourth is held, with its disk', async () => {
    const { id } = await world.create()
    for (const generation of [1, 2, 3, 4]) {
      world.clock.advance(1_000)
      await died(id, generation)
      await died(id, generation)
      await settle()
    }
    expect(await stateOf(id)).toBe('error')
    expect(await inbox(id)).toEqual(['auto_recovered', 'auto_recovered', 'auto_recovered', 'held_after_loss'])
    expect(await slots()).toBe(0)
    world.host.sandboxes.set(id, { dockId: id, generation: 4, state: 'dead', ended: 'died', ip: null })
    await world.report()
    expect(world.host.sandboxes.has(id)).toBe(true)
    expect((await stop(id)).state).toBe('archived')
  })

  it('is not held for deaths that lie longer apart', async () => {
    const { id } = await world.create()
    for (let generation = 1; generation <= 12; generation++) {
      world.clock.advance(4 * 60_000)
      await died(id, generation)
      await settle()
    }
    expect(await stateOf(id)).toBe('ready')
  })

  it('is tried three times, then held, when it does not start', async () => {
    const { id } = await world.create()
    world.host.failures.set('start', ['failed', 'failed', 'failed'])
    await died(id, 1)
    await settle()
    expect(await stateOf(id)).toBe('error')
    expect(await inbox(id)).toEqual(['held_after_loss'])
    expect(world.host.sandboxes.get(id)).toMatchObject({ state: 'stopped' })
    await world.report()
    expect(world.host.sandboxes.has(id)).toBe(true)
    expect((await stop(id)).state).toBe('archived')
    expect(await slots()).toBe(0)
  })

  it('waits for a host that cannot start it now', async () => {
    const { id } = await world.create()
    world.host.failures.set('start', ['lost', 'no_space'])
    await died(id, 1)
    await world.modules.runner.settled()
    await world.report()
    await settle()
    expect(await stateOf(id)).toBe('provisioning')
    await world.report()
    await settle()
    expect(await stateOf(id)).toBe('ready')
    expect(await inbox(id)).toEqual(['auto_recovered'])
  })

  it('whose disk is gone with it says so and keeps no place', async () => {
    const { id } = await world.create()
    world.host.sandboxes.delete(id)
    world.clock.advance(10_000)
    await world.report()
    await settle()
    expect(await readDock(world.modules.context, world.caller, id)).toMatchObject({
      state: 'error',
      hostId: null,
    })
    expect(await inbox(id)).toEqual(['held_after_loss'])
    await expect(stop(id)).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('the fence', () => {
  it('delays no heartbeat, however slow the host is with it', async () => {
    const stray = newUuid()
    world.host.sandboxes.set(stray, { dockId: stray, generation: 1, state: 'running', ip: null })
    const gate = Promise.withResolvers<void>()
    world.host.gate.set('stop', gate.promise)
    const reported = world.report()
    await expect.poll(() => world.host.calls.at(-1)?.method, { timeout: 20_000 }).toBe('stop')
    await heartbeat()
    expect(world.host.disconnects).toEqual([])
    gate.resolve()
    await reported
    expect(world.host.sandboxes.has(stray)).toBe(false)
  })

  it('ends an old runtime of a Dock that has its disk here without taking the disk', async () => {
    const { id } = await world.create()
    await sql`update docks set state = 'error', generation = 5, placed = false where id = ${id}`.execute(
      world.db,
    )
    await world.report()
    expect(world.host.sandboxes.get(id)).toMatchObject({ state: 'stopped' })
  })

  it('removes the capture of a Snapshot that failed, and no other', async () => {
    const { id } = await world.create()
    const snapshot = async (status: string) => {
      const snapshotId = newUuid()
      await sql`insert into snapshots (id, dock_id, organization_id, status, host_id, disk_gib, created_at)
        values (${snapshotId}, ${id}, ${world.organizationId}, ${status}, ${world.hostId}, 1, now())`.execute(
        world.db,
      )
      world.host.captures.add(snapshotId)
      return snapshotId
    }
    const kept = [await snapshot('completed'), await snapshot('saving')]
    await snapshot('failed')
    await world.report()
    expect([...world.host.captures]).toEqual(kept)
  })
})
