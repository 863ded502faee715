import { newUuid } from '@dock/foundation'
import { type FreshDatabase, whileLocked } from '@dock/testkit'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import {
  branchDock,
  deleteDock,
  execInDock,
  readDock,
  readOperation,
  resumeDock,
  stopDock,
  updateDock,
} from './index.ts'

let world: TestWorld
let database: FreshDatabase

useTestWorld((fresh, shared) => {
  ;[world, database] = [fresh, shared]
})

const context = () => world.modules.context
const read = (id: string) => readDock(context(), world.caller, id)
const stop = (id: string, force = false) => stopDock(context(), world.caller, id, { force })
const resume = (id: string) => resumeDock(context(), world.caller, id, {})
const branch = (id: string, key?: string) =>
  branchDock(context(), world.caller, id, { ttlSeconds: null }, key)
const remove = (id: string) => deleteDock(context(), world.caller, id, id)
const exec = (id: string, command = 'echo', key?: string) =>
  execInDock(context(), world.caller, id, { command, timeoutSeconds: 60, env: {}, cwd: '/' }, { key })
const countActive = async (): Promise<number> =>
  (
    await sql<{ n: number }>`select count(*)::int as n from operations
      where organization_id = ${world.organizationId} and status <> 'completed'`.execute(world.db)
  ).rows[0]!.n
const eventsOf = async (id: string): Promise<string[]> =>
  (
    await sql<{
      type: string
    }>`select type from dock_events where dock_id = ${id} order by occurred_at`.execute(world.db)
  ).rows.map((row) => row.type)
const consistent = async (slots: number): Promise<void> => {
  const counted = await world.reserved()
  expect(counted).toMatchObject({ slots, recounted: slots })
  expect(await countActive()).toBe(0)
}

describe('create', () => {
  it('returns a ready Dock, and records its state changes and event', async () => {
    const dock = await world.create({ name: 'one', ttlSeconds: 60 })
    expect(dock).toMatchObject({
      state: 'ready',
      name: 'one',
      ip: '10.0.0.2',
      hostId: world.hostId,
      environment: 'default',
    })
    expect(await read(dock.id)).toEqual(dock)
    const changes = await sql<{ to_state: string }>`select to_state from dock_state_changes
      where dock_id = ${dock.id} order by id`.execute(world.db)
    expect(changes.rows.map((row) => row.to_state)).toEqual(['provisioning', 'provisioned', 'ready'])
    expect(await eventsOf(dock.id)).toEqual(['dock.ready'])
    await consistent(1)
  })

  it('generates pronounceable names', async () => {
    expect((await world.create()).name).toMatch(/^[a-z]+-[a-z]+$/)
  })

  it('refuses a taken name without residue', async () => {
    await world.create({ name: 'same' })
    expect(await outcomeOf(world.create({ name: 'same' }, 'key'))).toBe('dock_name_taken')
    await consistent(1)
    expect(await outcomeOf(world.create({ name: 'other' }, 'key'))).toBe('succeeded')
  })

  it('does not find workspaces or Docks of others', async () => {
    expect(await outcomeOf(world.create({ workspaceId: newUuid() }))).toBe('dock_not_found')
    const dock = await world.create()
    expect(await outcomeOf(readDock(context(), world.stranger, dock.id))).toBe('dock_not_found')
    expect(await outcomeOf(world.create({ environment: 'none' }))).toBe('environment_not_found')
  })

  it('leaves a Dock in error without residue when the host fails', async () => {
    world.host.failures.set('start', ['failed'])
    expect(await outcomeOf(world.create({ name: 'broken' }, 'k'))).toBe('service_unavailable')
    const again = await world.create({ name: 'broken' }, 'k')
    expect(again).toMatchObject({ state: 'error', hostId: null })
    expect(await eventsOf(again.id)).toEqual(['dock.error'])
    expect(world.host.sandboxes.size).toBe(0)
    await consistent(0)
    expect((await remove(again.id)).operation.status).toBe('completed')
  })

  it('fences a sandbox that a host created although its link broke', async () => {
    world.host.failures.set('start', ['lost-after'])
    world.host.failures.set('destroy', ['lost'])
    expect(await outcomeOf(world.create())).toBe('service_unavailable')
    expect(world.host.sandboxes.size).toBe(1)
    await world.report()
    expect(world.host.sandboxes.size).toBe(0)
    await consistent(0)
  })

  it('creates one Dock for 20 concurrent requests with one key', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => outcomeOf(world.create({ name: 'raced' }, 'race'))),
    )
    expect(answers.filter((answer) => answer === 'succeeded').length).toBeGreaterThan(0)
    expect(
      answers.filter((answer) => answer !== 'succeeded' && answer !== 'idempotency_in_progress'),
    ).toEqual([])
    expect(world.host.sandboxes.size).toBe(1)
    expect((await world.create({ name: 'raced' }, 'race')).state).toBe('ready')
    expect(await outcomeOf(world.create({ name: 'changed' }, 'race'))).toBe('idempotency_key_reused')
    await consistent(1)
    world.clock.advance(24 * 3600_000 + 1)
    await world.report()
    expect(await outcomeOf(world.create({ name: 'changed' }, 'race'))).toBe('succeeded')
  })

  it('tells a concurrent request with the same key that the create is in progress, not that there is no room', async () => {
    await sql`update hosts set max_docks = 1 where id = ${world.hostId}`.execute(world.db)
    const { promise, resolve } = Promise.withResolvers<void>()
    world.host.gate.set('start', promise)
    const create = (key: string) => outcomeOf(world.create({}, key))
    // Both requests look up the key before either of them places its Dock.
    const lock = 'select 1 from hosts for update'
    const raced = await whileLocked(database, { lock, waiting: 2 }, async () => {
      const racers = [create('race'), create('race')]
      const quicker = await Promise.race(racers)
      resolve()
      return [quicker, ...(await Promise.all(racers))].sort()
    })
    expect(raced).toEqual(['idempotency_in_progress', 'idempotency_in_progress', 'succeeded'])
    expect(await create('another')).toBe('capacity_exhausted')
    await consistent(1)
  })

  it('says why there is no room', async () => {
    expect(await outcomeOf(world.create({ image: 'nothing' }))).toBe('image_unknown')
    expect(await outcomeOf(world.create({ image: 'ubuntu-24.04' }))).toBe('image_unavailable')
    expect(await outcomeOf(world.create({ cpus: 64 }))).toBe('validation_error')
    await sql`update hosts set max_docks = 1 where id = ${world.hostId}`.execute(world.db)
    await world.create()
    expect(await outcomeOf(world.create({}, 'k'))).toBe('capacity_exhausted')
    world.host.online = false
    expect(await outcomeOf(world.create())).toBe('no_host_capacity')
    expect(await outcomeOf(world.create({ image: 'nothing' }))).toBe('image_unknown')
    await consistent(1)
  })

  it('never gives the last place twice', async () => {
    await sql`update hosts set max_docks = 3 where id = ${world.hostId}`.execute(world.db)
    const answers = await Promise.all(Array.from({ length: 10 }, () => outcomeOf(world.create())))
    expect(answers.filter((answer) => answer === 'succeeded')).toHaveLength(3)
    expect(answers.filter((answer) => answer === 'capacity_exhausted')).toHaveLength(7)
    await consistent(3)
  })
})

describe('stop and resume', () => {
  it('keeps the disk as a Snapshot and boots from it with the next generation', async () => {
    const dock = await world.create()
    expect(await stop(dock.id)).toEqual({ id: dock.id, state: 'archived' })
    expect(await read(dock.id)).toMatchObject({ state: 'archived', hostId: null, ip: null })
    expect(world.host.captures.size).toBe(1)
    await consistent(0)
    expect(await stop(dock.id)).toEqual({ id: dock.id, state: 'archived' })
    expect(await resume(dock.id)).toEqual({ id: dock.id, state: 'ready' })
    expect(world.host.sandboxes.get(dock.id)?.generation).toBe(2)
    expect(await eventsOf(dock.id)).toEqual(['dock.ready', 'dock.archived', 'dock.hydrated'])
    expect(await outcomeOf(resume(dock.id))).toBe('conflict')
    await consistent(1)
  })

  it('keeps the Dock running if the capture fails', async () => {
    const dock = await world.create()
    world.host.failures.set('stop', ['failed'])
    expect(await outcomeOf(stop(dock.id))).toBe('service_unavailable')
    const after = await read(dock.id)
    expect(after.state).toBe('ready')
    expect(after.billingPausedAt).not.toBeNull()
    expect(await outcomeOf(exec(dock.id))).toBe('succeeded')
    await consistent(1)
    expect((await stop(dock.id)).state).toBe('archived')
    expect((await read(dock.id)).billingPausedAt).toBeNull()
  })

  it('continues a stop when the silent host returns', async () => {
    const dock = await world.create()
    world.host.failures.set('stop', ['lost-after'])
    expect((await stop(dock.id)).state).toBe('archiving')
    await world.report()
    await world.modules.runner.sweep()
    await world.modules.runner.settled()
    expect((await read(dock.id)).state).toBe('archived')
    await consistent(0)
  })

  it('a forced stop keeps nothing, and the Dock cannot be resumed', async () => {
    const dock = await world.create()
    expect((await stop(dock.id, true)).state).toBe('archived')
    expect(world.host.sandboxes.size + world.host.captures.size).toBe(0)
    expect(await outcomeOf(resume(dock.id))).toBe('conflict')
    await consistent(0)
  })

  it('undoes a failed resume, with the Snapshot unchanged', async () => {
    const dock = await world.create()
    await stop(dock.id)
    world.host.failures.set('start', ['no_space'])
    expect(await outcomeOf(resume(dock.id))).toBe('capacity_exhausted')
    expect((await read(dock.id)).state).toBe('archived')
    await consistent(0)
    expect((await resume(dock.id)).state).toBe('ready')
  })

  it('allows only one operation on a Dock at a time', async () => {
    const dock = await world.create()
    const answers = await Promise.all([
      outcomeOf(stop(dock.id)),
      outcomeOf(branch(dock.id)),
      outcomeOf(remove(dock.id)),
    ])
    expect(answers.filter((answer) => answer === 'succeeded').length).toBeGreaterThan(0)
    expect(
      answers.filter((answer) => !['succeeded', 'dock_busy', 'dock_not_found', 'conflict'].includes(answer)),
    ).toEqual([])
    expect(await countActive()).toBe(0)
  })

  it('stops a Dock by its ttl, counted from ready', async () => {
    const dock = await world.create({ ttlSeconds: 60 })
    world.clock.advance(59_000)
    const { stopDueDocks } = await import('./stop/stop-dock.ts')
    await stopDueDocks(context())
    expect((await read(dock.id)).state).toBe('ready')
    world.clock.advance(1_000)
    await stopDueDocks(context())
    await world.modules.runner.settled()
    expect((await read(dock.id)).state).toBe('archived')
    await resume(dock.id)
    await updateDock(context(), world.caller, dock.id, { ttlSeconds: null })
    world.clock.advance(100_000)
    await stopDueDocks(context())
    expect((await read(dock.id)).state).toBe('ready')
  })
})

describe('branch', () => {
  it('copies a running Dock, which keeps running', async () => {
    const source = await world.create({ name: 'source' })
    const copy = await branch(source.id, 'k')
    expect(copy).toMatchObject({ state: 'ready', image: source.image })
    expect(copy.id).not.toBe(source.id)
    expect((await read(source.id)).state).toBe('ready')
    expect((await read(source.id)).lastSnapshotAt).not.toBeNull()
    expect((await branch(source.id, 'k')).id).toBe(copy.id)
    await consistent(2)
    await stop(source.id)
    expect((await branch(source.id)).state).toBe('ready')
    await consistent(2)
  })

  it('copies a Dock that changes from ready to running in the meantime', async () => {
    const source = await world.create()
    const turns = `update docks set state = 'running' where id = '${source.id}'`
    const copy = await whileLocked(database, { lock: turns, waiting: 1 }, () => branch(source.id))
    expect(copy.state).toBe('ready')
    expect((await read(source.id)).state).toBe('running')
    await consistent(2)
  })

  it.each(['capture', 'start'] as const)('unlocks its source if the step %s fails', async (step) => {
    const source = await world.create()
    world.host.failures.set(step, ['failed'])
    expect(await outcomeOf(branch(source.id))).toBe('service_unavailable')
    await consistent(1)
    expect(world.host.sandboxes.size).toBe(1)
    expect((await branch(source.id)).state).toBe('ready')
  })

  it('is resumed by another process when its lease has expired', async () => {
    const source = await world.create()
    let open: () => void = () => undefined
    world.host.gate.set(
      'start',
      new Promise<void>((resolve) => {
        open = resolve
      }),
    )
    const first = outcomeOf(branch(source.id))
    await expect.poll(() => world.host.calls.filter((call) => call.method === 'start').length).toBe(2)
    const other = world.another()
    await other.runner.sweep()
    expect(world.host.calls.filter((call) => call.method === 'start')).toHaveLength(2)
    world.clock.advance(16_000)
    await other.runner.sweep()
    await expect.poll(() => world.host.calls.filter((call) => call.method === 'start').length).toBe(3)
    open()
    await other.runner.settled()
    await first
    await consistent(2)
    expect(world.host.calls.filter((call) => call.method === 'capture')).toHaveLength(1)
    const ids = [...world.host.sandboxes.keys()]
    expect(await Promise.all(ids.map(async (id) => (await read(id)).state))).toEqual(['ready', 'ready'])
  })
})

describe('delete', () => {
  it('removes Dock, disk and captures, and its operation can be read', async () => {
    const dock = await world.create()
    await branch(dock.id)
    expect(await outcomeOf(deleteDock(context(), world.caller, dock.id, undefined))).toBe('confirm_required')
    const { operation } = await remove(dock.id)
    expect(operation).toMatchObject({ targetId: dock.id, status: 'completed' })
    expect(await readOperation(context(), world.caller, operation.id)).toEqual(operation)
    expect(await outcomeOf(readOperation(context(), world.stranger, operation.id))).toBe('dock_not_found')
    expect(await outcomeOf(read(dock.id))).toBe('dock_not_found')
    expect(world.host.sandboxes.has(dock.id)).toBe(false)
    expect(world.host.captures.size).toBe(0)
    await consistent(1)
  })

  it('is blocked by a silent host, and retried by a repeated request', async () => {
    const dock = await world.create()
    world.host.failures.set('destroy', ['lost'])
    const { operation } = await remove(dock.id)
    expect(operation.status).toBe('blocked')
    expect(await outcomeOf(stop(dock.id))).toBe('dock_busy')
    expect((await remove(dock.id)).operation.id).toBe(operation.id)
    await world.modules.runner.settled()
    expect(await outcomeOf(read(dock.id))).toBe('dock_not_found')
    await consistent(0)
  })

  it('orders a silent host to remove a capture that failed but may exist', async () => {
    const dock = await world.create()
    world.host.failures.set('capture', ['lost-after'])
    expect(await outcomeOf(branch(dock.id))).toBe('service_unavailable')
    await stop(dock.id, true)
    world.host.online = false
    expect((await remove(dock.id)).operation.status).toBe('completed')
    expect(world.host.captures.size).toBe(1)
    world.host.online = true
    await world.report()
    expect(world.host.captures.size).toBe(0)
    await consistent(0)
  })
})

describe('exec', () => {
  it('runs only in a ready Dock, and reports errors', async () => {
    const dock = await world.create()
    expect(await exec(dock.id, 'hello')).toMatchObject({ exitCode: 0, stdout: 'hello' })
    expect(await outcomeOf(exec(dock.id, 'sleep'))).toBe('exec_timeout')
    world.host.failures.set('exec', ['busy', 'lost', 'failed'])
    expect(await outcomeOf(exec(dock.id))).toBe('rate_limited')
    expect(await outcomeOf(exec(dock.id))).toBe('exec_failed')
    expect(await outcomeOf(exec(dock.id))).toBe('exec_failed')
    await stop(dock.id)
    expect(await outcomeOf(exec(dock.id))).toBe('dock_not_running')
  })

  it('allows 120 commands per minute and Dock, which strangers cannot use up', async () => {
    const [busy, quiet] = [await world.create(), await world.create()]
    const many = (caller: typeof world.caller, id: string, count: number) => {
      const body = { command: 'true', timeoutSeconds: 60, env: {}, cwd: '/' }
      return Promise.all(
        Array.from({ length: count }, () => outcomeOf(execInDock(context(), caller, id, body, undefined))),
      )
    }
    expect(new Set(await many(world.stranger, quiet.id, 130))).toEqual(new Set(['dock_not_found']))
    const codes = await many(world.caller, busy.id, 125)
    expect(codes.filter((each) => each === 'succeeded')).toHaveLength(120)
    expect(codes.filter((each) => each === 'rate_limited')).toHaveLength(5)
    expect(await outcomeOf(exec(quiet.id))).toBe('succeeded')
  })

  it('runs a command with an idempotency key once', async () => {
    const dock = await world.create()
    const results = await Promise.all([exec(dock.id, 'first', 'k'), exec(dock.id, 'second', 'k')])
    expect(results[1]).toEqual(results[0])
    expect(await exec(dock.id, 'third', 'k')).toEqual(results[0])
    expect(world.host.calls.filter((call) => call.method === 'exec')).toHaveLength(1)
    world.host.failures.set('exec', ['lost-after'])
    expect(await outcomeOf(exec(dock.id, 'lost', 'l'))).toBe('exec_failed')
    expect(await outcomeOf(exec(dock.id, 'lost', 'l'))).toBe('exec_result_expired')
  })
})

describe('hosts', () => {
  it('marks Docks of a silent host unreachable, and ready when it returns', async () => {
    const dock = await world.create()
    await world.beSilent()
    expect((await read(dock.id)).state).toBe('unreachable')
    expect(await outcomeOf(stop(dock.id))).toBe('conflict')
    await world.report()
    expect((await read(dock.id)).state).toBe('ready')
    await consistent(1)
  })

  it('reboots a Dock whose sandbox has died, up to three times', async () => {
    const dock = await world.create()
    for (const generation of [2, 3, 4]) {
      await world.modules.hostEvents.handle(world.hostId, {
        type: 'dock.died',
        dockId: dock.id,
        generation: generation - 1,
      })
      await world.modules.runner.settled()
      expect((await read(dock.id)).state).toBe('ready')
      expect(world.host.sandboxes.get(dock.id)?.generation).toBe(generation)
    }
    await world.modules.hostEvents.handle(world.hostId, { type: 'dock.died', dockId: dock.id, generation: 4 })
    expect((await read(dock.id)).state).toBe('error')
    expect(await eventsOf(dock.id)).toEqual(['dock.ready', 'dock.error'])
    expect((await stop(dock.id)).state).toBe('archived')
    expect((await resume(dock.id)).state).toBe('ready')
    await consistent(1)
  })

  it('reboots a Dock whose sandbox was ended on purpose, without counting it', async () => {
    const dock = await world.create()
    world.host.sandboxes.set(dock.id, { dockId: dock.id, generation: 1, state: 'stopped', ip: null })
    world.clock.advance(10_000)
    await world.report()
    await world.modules.runner.settled()
    expect(world.host.sandboxes.get(dock.id)).toMatchObject({ generation: 2, state: 'running' })
    expect((await read(dock.id)).state).toBe('ready')
  })

  it('fences unknown runtimes without destroying their disks, and ignores generation 0', async () => {
    const [pool, stray, capture] = [newUuid(), newUuid(), newUuid()]
    world.host.sandboxes.set(pool, { dockId: pool, generation: 0, state: 'running', ip: null })
    world.host.sandboxes.set(stray, { dockId: stray, generation: 1, state: 'running', ip: null })
    world.host.captures.add(capture)
    await world.report()
    expect([...world.host.sandboxes.keys()]).toEqual([pool])
    // The disk of the runtime has become a capture.
    expect(world.host.captures.size).toBe(2)
    expect(world.host.calls.filter(({ method }) => method.startsWith('destroy'))).toEqual([])
  })
})

describe('the hot path', () => {
  it('needs three SQL statements for a create and one for an exec', async () => {
    const query = vi.spyOn(pg.Client.prototype, 'query')
    try {
      await world.create({}, 'counted')
      expect(query).toHaveBeenCalledTimes(3)
      const dock = await world.create()
      query.mockClear()
      await exec(dock.id)
      expect(query).toHaveBeenCalledTimes(1)
    } finally {
      query.mockRestore()
    }
  })
})
