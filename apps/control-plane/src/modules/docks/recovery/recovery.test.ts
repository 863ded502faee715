import { ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { branchDock, deleteDock, readDock, stopDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
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
  it('makes its Docks unreachable, alerts once, and restores their state when it returns', async () => {
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

  it('sends each person one mail for all their Docks, and keeps an inbox entry for each Dock', async () => {
    await sql`update users set email_verified = true`.execute(world.db)
    const names: string[] = []
    const ids: string[] = []
    for (let n = 0; n < 3; n += 1) {
      const { id, name } = await world.create()
      ids.push(id)
      names.push(name!)
    }
    await world.beSilent()
    for (const id of ids) expect(await inbox(id)).toEqual(['stopped_responding'])
    const { rows } = await sql<{ title: string; items: string[]; organization: string }>`
      select gathered ->> 'title' as title, gathered -> 'items' as items, organization_name as organization
      from outbox_mails`.execute(world.db)
    expect(rows).toEqual([
      {
        title: '{count} of your Docks on one host are unreachable',
        items: expect.arrayContaining(names),
        organization: 'Org',
      },
    ])
    expect(rows[0]?.items).toHaveLength(3)
  })

  it('is detected by a process that started later, after its own grace period', async () => {
    const { id } = await world.create()
    world.clock.advance(60_000)
    const next = world.another()
    await world.beSilent(29_000, next)
    expect([await stateOfHost(), await stateOf(id)]).toEqual(['online', 'ready'])
    await world.beSilent(2_000, next)
    expect([await stateOfHost(), await stateOf(id)]).toEqual(['offline', 'unreachable'])
  })

  it('is detected by a process that was paused itself only 30 s after it continues', async () => {
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
    'is detected by a process that had no database (after %i ms) only 30 s after it is back',
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

  it('is online again only after an inventory: a heartbeat alone closes its session', async () => {
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

  it('never leaves a Dock unreachable if it returns at the same moment', async () => {
    const docks = await Promise.all(Array.from({ length: 4 }, () => world.create()))
    await world.beSilent()
    for (let round = 0; round < 5; round++) {
      await sql`update hosts set state = 'offline' where id = ${world.hostId}`.execute(world.db)
      await Promise.all([world.modules.hostEvents.noticeSilence(), world.report()])
      for (const { id } of docks) expect(await stateOf(id)).toBe('ready')
    }
  })

  it('blocks a delete, which continues when the host returns', async () => {
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

  it('blocks a stop, which a repeated request retries', async () => {
    const { id } = await world.create()
    world.host.failures.set('stop', ['lost'])
    expect(await stop(id)).toEqual({ id, state: 'archiving' })
    expect(await stop(id)).toEqual({ id, state: 'archiving' })
    await expect.poll(() => stateOf(id), { timeout: 60_000 }).toBe('archived')
  })

  it('reboots Docks that it lost while it was silent', async () => {
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
  it('is rebooted from its own disk with an alert, without the events of a start', async () => {
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
    ['a death event', (id: string) => died(id, 1)],
    ['an inventory', reportDead],
  ])('is rebooted when the operation that held it completes, after %s', async (_, tell) => {
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

  it('is checked, but not claimed, while an operation holds it', async () => {
    const { id } = await world.create()
    world.host.failures.set('destroy', ['lost'])
    const { operation } = await deleteDock(world.modules.context, world.caller, id, id)
    expect(operation.status).toBe('blocked')
    await sql`update docks set state = 'ready' where id = ${id}`.execute(world.db)
    await died(id, 1)
    await world.db.transaction().execute(async (tx) => {
      await sql`select 1 from docks where id = ${id} for update`.execute(tx)
      // A claim would wait for the locked row.
      await world.modules.hostEvents.recoverHeld()
    })
    await sql`update operations set status = 'completed' where id = ${operation.id}`.execute(world.db)
    await world.modules.hostEvents.recoverHeld()
    await settle()
    expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 2, state: 'running' })
  })

  it.each([
    ['a death event', (id: string) => died(id, 1)],
    ['an inventory', reportDead],
  ])('is rebooted if a stop in progress fails, after %s', async (_, tell) => {
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

  it('stays archived if a stop in progress completes', async () => {
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

  it('is rebooted three times in ten minutes; the fourth death moves it to error with its disk kept', async () => {
    const { id } = await world.create()
    for (const generation of [1, 2, 3, 4]) {
      world.clock.advance(1_000)
      await died(id, generation)
      await died(id, generation)
      await settle()
    }
    expect(await stateOf(id)).toBe('error')
    expect(await inbox(id)).toEqual(['auto_recovered', 'auto_recovered', 'auto_recovered', 'held_after_loss'])
    expect(await eventsOf(id)).toEqual(['dock.ready', 'dock.error'])
    expect(await slots()).toBe(0)
    world.host.sandboxes.set(id, { dockId: id, generation: 4, state: 'dead', ended: 'died', ip: null })
    await world.report()
    expect(world.host.sandboxes.has(id)).toBe(true)
    expect((await stop(id)).state).toBe('archived')
  })

  it('is rebooted without limit if its deaths are far enough apart', async () => {
    const { id } = await world.create()
    for (let generation = 1; generation <= 12; generation++) {
      world.clock.advance(4 * 60_000)
      await died(id, generation)
      await settle()
    }
    expect(await stateOf(id)).toBe('ready')
  })

  it('is moved to error after three failed boots', async () => {
    const { id } = await world.create()
    world.host.failures.set('start', ['failed', 'failed', 'failed'])
    await died(id, 1)
    await settle()
    expect(await stateOf(id)).toBe('error')
    expect(await inbox(id)).toEqual(['held_after_loss'])
    expect(await eventsOf(id)).toEqual(['dock.ready', 'dock.error'])
    expect(world.host.sandboxes.get(id)).toMatchObject({ state: 'stopped' })
    await world.report()
    expect(world.host.sandboxes.has(id)).toBe(true)
    expect((await stop(id)).state).toBe('archived')
    expect(await slots()).toBe(0)
  })

  it('blocks on a host that cannot start it now', async () => {
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

  it('reports if its disk is gone too, and releases its reservation', async () => {
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
  it('does not delay heartbeats, even if the host is slow', async () => {
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

  it('ends an old runtime of a Dock on its own host without removing the disk', async () => {
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
