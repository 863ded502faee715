import { type FreshDatabase, whileLocked } from '@dock/testkit'
import { insertEnvironment, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { branchDock, deleteDock, listDocks, readDock, resumeDock, stopDock, updateDock } from './index.ts'

let world: TestWorld
let database: FreshDatabase
useTestWorld((fresh, shared) => {
  ;[world, database] = [fresh, shared]
})

const context = () => world.modules.context
const read = (id: string) => readDock(context(), world.caller, id)
const stop = (id: string, force = false) => stopDock(context(), world.caller, id, { force })
const resume = (id: string, body: Parameters<typeof resumeDock>[3] = {}) =>
  resumeDock(context(), world.caller, id, body)
const branch = (id: string, body: Partial<Parameters<typeof branchDock>[3]> = {}) =>
  branchDock(context(), world.caller, id, { ttlSeconds: null, ...body }, undefined)
const update = (id: string, body: Parameters<typeof updateDock>[3]) =>
  updateDock(context(), world.caller, id, body)
const addEnvironment = async (name: string): Promise<void> => {
  await insertEnvironment(world.db, world.organizationId, { name })
}
const alerts = async (): Promise<string[]> =>
  (
    await sql<{ type: string }>`select type from notifications where organization_id = ${world.organizationId}
      order by occurred_at`.execute(world.db)
  ).rows.map((row) => row.type)
const archivedDock = async () => {
  const dock = await world.create({ cpus: 2, memoryMiB: 1024, diskGiB: 2, ttlSeconds: 600 })
  await stop(dock.id)
  return dock
}

describe('a stop that fails', () => {
  it('keeps the Dock running, pauses billing and alerts once, until a capture succeeds', async () => {
    const dock = await world.create()
    world.host.failures.set('stop', ['failed', 'no_space'])
    expect(await outcomeOf(stop(dock.id))).toBe('service_unavailable')
    const first = (await read(dock.id)).billingPausedAt
    world.clock.advance(5_000)
    expect(await outcomeOf(stop(dock.id))).toBe('service_unavailable')
    expect(await read(dock.id)).toMatchObject({ state: 'ready', billingPausedAt: first })
    expect(first).not.toBeNull()
    expect(await alerts()).toEqual(['stop_refused'])
    await branch(dock.id)
    expect((await read(dock.id)).billingPausedAt).toBeNull()
    world.host.failures.set('stop', ['failed'])
    await outcomeOf(stop(dock.id))
    expect(await alerts()).toEqual(['stop_refused', 'stop_refused'])
    await stop(dock.id)
    expect(await read(dock.id)).toMatchObject({ state: 'archived', billingPausedAt: null })
  })
})

describe('a concurrent change', () => {
  it('is kept by a PATCH of other fields', async () => {
    const { id } = await archivedDock()
    const change = `update docks set name = 'renamed', cpus = 1 where id = '${id}'`
    await whileLocked(database, { lock: change, waiting: 1 }, () => update(id, { ttlSeconds: 60 }))
    expect(await read(id)).toMatchObject({ name: 'renamed', cpus: 1, ttlSeconds: 60 })
  })

  it('is used by a resume', async () => {
    const { id } = await archivedDock()
    const change = `update docks set ttl_seconds = null, cpus = 1 where id = '${id}'`
    await whileLocked(database, { lock: change, waiting: 1 }, () => resume(id))
    expect(await read(id)).toMatchObject({ state: 'ready', cpus: 1, ttlSeconds: null })
    const { rows } = await sql`select reserved_cpus from hosts where id = ${world.hostId}`.execute(world.db)
    expect(rows).toEqual([{ reserved_cpus: 1 }])
  })
})

describe('a Dock whose activity state changes concurrently', () => {
  it('is deleted nevertheless', async () => {
    const { id } = await world.create()
    const change = `update docks set state = 'running' where id = '${id}'`
    await whileLocked(database, { lock: change, waiting: 1 }, () =>
      deleteDock(context(), world.caller, id, id),
    )
    await expect.poll(() => outcomeOf(read(id))).toBe('dock_not_found')
  })
})

describe('stop', () => {
  it('returns the state of a stop that is already in progress', async () => {
    const dock = await world.create()
    const { promise, resolve } = Promise.withResolvers<void>()
    world.host.gate.set('stop', promise)
    const first = stop(dock.id)
    await expect.poll(async () => (await read(dock.id)).state).toBe('archiving')
    expect(await stop(dock.id, true)).toEqual({ id: dock.id, state: 'archiving' })
    resolve()
    expect(await first).toEqual({ id: dock.id, state: 'archived' })
  })

  it('keeps earlier Snapshots if it is forced', async () => {
    const dock = await world.create()
    await stop(dock.id)
    await resume(dock.id)
    const before = (await read(dock.id)).lastSnapshotAt
    await stop(dock.id, true)
    expect((await read(dock.id)).lastSnapshotAt).toBe(before)
    expect((await resume(dock.id)).state).toBe('ready')
  })

  it('is refused in a state that cannot stop', async () => {
    world.host.failures.set('start', ['failed'])
    expect(await outcomeOf(world.create({ name: 'broken' }))).toBe('service_unavailable')
    const [[broken] = []] = await Array.fromAsync(
      listDocks(context(), world.caller, { filter: 'e', all: false }),
    )
    expect(await outcomeOf(stop(broken!.id))).toBe('conflict')
    expect(await outcomeOf(resume(broken!.id))).toBe('conflict')
    expect(await outcomeOf(branch(broken!.id))).toBe('conflict')
  })

  it('is executed once for concurrent requests', async () => {
    const dock = await world.create()
    const answers = await Promise.all(Array.from({ length: 8 }, () => outcomeOf(stop(dock.id))))
    expect(answers.every((answer) => ['succeeded', 'dock_busy'].includes(answer))).toBe(true)
    expect(world.host.calls.filter((call) => call.method === 'stop')).toHaveLength(1)
    expect((await read(dock.id)).state).toBe('archived')
  })
})

describe('resume', () => {
  it('sets CPUs and memory for that boot only; a larger disk stays', async () => {
    const dock = await archivedDock()
    await resume(dock.id, { cpus: 4, memoryMiB: 2048, diskGiB: 3 })
    const started = world.host.calls.filter((call) => call.method === 'start').at(-1)
    expect(started?.body).toMatchObject({ cpus: 4, memoryMiB: 2048, diskGiB: 3 })
    expect(await read(dock.id)).toMatchObject({ cpus: 4, memoryMiB: 2048, diskGiB: 3 })
    expect(await world.reserved()).toMatchObject({ slots: 1, cpus: 4 })
    await stop(dock.id)
    expect(await world.reserved()).toMatchObject({ slots: 0, cpus: 0 })
    expect(await read(dock.id)).toMatchObject({ cpus: 2, memoryMiB: 1024, diskGiB: 3 })
  })

  it('replaces, clears or keeps the ttl', async () => {
    const dock = await archivedDock()
    const ttlAfter = async (body: Parameters<typeof resume>[1]) => {
      await resume(dock.id, body)
      const { ttlSeconds } = await read(dock.id)
      await stop(dock.id)
      return ttlSeconds
    }
    expect(await ttlAfter({})).toBe(600)
    expect(await ttlAfter({ ttlSeconds: 60 })).toBe(60)
    expect(await ttlAfter({ ttlSeconds: null })).toBeNull()
    expect(await ttlAfter({})).toBeNull()
  })

  it('binds another Environment, or none', async () => {
    const dock = await archivedDock()
    await addEnvironment('other')
    expect(await outcomeOf(resume(dock.id, { environment: 'missing' }))).toBe('environment_not_found')
    await resume(dock.id, { environment: 'other', noEnv: true })
    expect((await read(dock.id)).environment).toBe('other')
  })

  it('is a conflict in every state but archived', async () => {
    const { id } = await archivedDock()
    for (const state of [
      'provisioning',
      'provisioned',
      'cloning',
      'ready',
      'archiving',
      'unreachable',
      'error',
    ]) {
      await sql`update docks set state = ${state} where id = ${id}`.execute(world.db)
      expect([state, await outcomeOf(resume(id))]).toEqual([state, 'conflict'])
    }
    await sql`update docks set state = 'archived' where id = ${id}`.execute(world.db)
    expect(await outcomeOf(resume(id))).toBe('succeeded')
  })

  it('restores all previous values if it fails', async () => {
    const dock = await archivedDock()
    await addEnvironment('other')
    const before = await read(dock.id)
    world.host.failures.set('start', ['failed'])
    const body = { cpus: 4, memoryMiB: 4096, diskGiB: 9, ttlSeconds: null, environment: 'other' }
    expect(await outcomeOf(resume(dock.id, body))).toBe('service_unavailable')
    const { updatedAt: _, stateChangedAt: __, ...after } = await read(dock.id)
    expect(before).toMatchObject(after)
    expect(await world.reserved()).toMatchObject({ slots: 0, cpus: 0 })
  })

  it('is refused if the disk is too small for the data', async () => {
    const dock = await archivedDock()
    await sql`update snapshots set size_bytes = ${1.5 * 1024 ** 3} where dock_id = ${dock.id}`.execute(
      world.db,
    )
    expect(await outcomeOf(resume(dock.id, { diskGiB: 1 }))).toBe('validation_error')
    expect(await outcomeOf(update(dock.id, { diskGiB: 1 }))).toBe('conflict')
    expect(await outcomeOf(branch(dock.id, { diskGiB: 1 }))).toBe('validation_error')
    expect((await update(dock.id, { diskGiB: 5 })).diskGiB).toBe(5)
    expect((await update(dock.id, { diskGiB: 2 })).diskGiB).toBe(2)
  })

  it('reports if the host finds the disk too small for the data', async () => {
    const dock = await archivedDock()
    world.host.failures.set('start', ['invalid'])
    expect(await outcomeOf(resume(dock.id, { diskGiB: 1 }))).toBe('validation_error')
    expect(await read(dock.id)).toMatchObject({ state: 'archived', diskGiB: 2 })
  })

  it('distinguishes an absent host from a full one', async () => {
    const dock = await archivedDock()
    expect(await outcomeOf(resume(dock.id, { cpus: 64 }))).toBe('validation_error')
    world.host.online = false
    expect(await outcomeOf(resume(dock.id))).toBe('no_host_capacity')
    world.host.online = true
    await sql`update hosts set max_docks = 0 where id = ${world.hostId}`.execute(world.db)
    expect(await outcomeOf(resume(dock.id))).toBe('capacity_exhausted')
  })
})

describe('update', () => {
  it('changes the size only while archived, applied at the next resume', async () => {
    const dock = await world.create()
    expect(await outcomeOf(update(dock.id, { cpus: 2 }))).toBe('conflict')
    await stop(dock.id)
    expect((await update(dock.id, { cpus: 2, memoryMiB: 2048 })).cpus).toBe(2)
    await resume(dock.id)
    expect(world.host.calls.at(-1)?.body).toMatchObject({ cpus: 2, memoryMiB: 2048 })
  })

  it('never gives one name to two Docks, even for concurrent requests', async () => {
    const docks = await Promise.all(Array.from({ length: 5 }, () => world.create()))
    const answers = await Promise.all(docks.map((dock) => outcomeOf(update(dock.id, { name: 'wanted' }))))
    expect(answers.filter((answer) => answer === 'succeeded')).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'dock_name_taken')).toHaveLength(4)
    expect(await outcomeOf(world.create({ name: 'wanted' }))).toBe('dock_name_taken')
  })
})

describe('lists', () => {
  it('show Docks in the states of the filter’s letters, or all', async () => {
    const names = async (filter: string, all = false) =>
      (await Array.fromAsync(listDocks(context(), world.caller, { filter, all })))
        .flat()
        .map((dock) => dock.name)
        .sort()
    const stopped = await world.create({ name: 'stopped' })
    await stop(stopped.id)
    await world.create({ name: 'runs' })
    world.host.failures.set('start', ['failed'])
    await outcomeOf(world.create({ name: 'failed' }))
    expect(await names('r')).toEqual(['runs'])
    expect(await names('s')).toEqual(['stopped'])
    expect(await names('se')).toEqual(['failed', 'stopped'])
    expect(await names('pt')).toEqual([])
    expect(await names('p', true)).toEqual(['failed', 'runs', 'stopped'])
    expect(await Array.fromAsync(listDocks(context(), world.stranger, { filter: 'r', all: true }))).toEqual(
      [],
    )
  })
})

describe('the ttl of a Dock whose resume fails', () => {
  /** Resumes with `body`, sets the ttl to `patched` during the start, and makes the start fail. */
  const failedResume = async (body: Parameters<typeof resumeDock>[3], patched: number | null | undefined) => {
    const { id } = await archivedDock()
    const gate = Promise.withResolvers<void>()
    world.host.gate.set('start', gate.promise)
    world.host.failures.set('start', ['failed'])
    const before = world.host.calls.length
    const resuming = outcomeOf(resume(id, body))
    await expect.poll(() => world.host.calls.length).toBe(before + 1)
    if (patched !== undefined) await update(id, { ttlSeconds: patched })
    gate.resolve()
    expect(await resuming).toBe('service_unavailable')
    return (await read(id)).ttlSeconds
  }

  it('is restored if the resume set one', async () => {
    expect(await failedResume({ ttlSeconds: 60 }, undefined)).toBe(600)
  })

  it('keeps a value that was set during the start', async () => {
    expect(await failedResume({ ttlSeconds: 60 }, 1200)).toBe(1200)
    expect(await failedResume({}, 1200)).toBe(1200)
    expect(await failedResume({}, null)).toBeNull()
  })
})
