/** POST /v1/docks/:id/branch, against a real database and the fake host. */
import { newUuid } from '@dock/foundation'
import { insertEnvironment, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { UsageSample } from '../../hosts/index.ts'
import { deleteDock } from '../delete/delete-dock.ts'
import { listDocks } from '../view/read-dock.ts'
import { branchDock } from './branch-dock.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const context = () => world.modules.context
const branch = (id: string, body: Partial<Parameters<typeof branchDock>[3]> = {}) =>
  branchDock(context(), world.caller, id, { ttlSeconds: null, ...body }, undefined)

describe('branch', () => {
  it('has its source’s size, image and Environment unless the request says otherwise', async () => {
    await insertEnvironment(world.db, world.organizationId, { name: 'other' })
    const source = await world.create({ cpus: 2, environment: 'other', ttlSeconds: 600, diskGiB: 2 })
    const { cpus, memoryMiB, diskGiB, image, environment } = source
    const copy = await branch(source.id)
    expect(copy).toMatchObject({ cpus, memoryMiB, diskGiB, image, environment, ttlSeconds: null })
    expect(copy.name).toMatch(/^[a-z]+-[a-z]+/)
    expect(await branch(source.id, { cpus: 1, environment: 'default', image })).toMatchObject({
      cpus: 1,
      environment: 'default',
    })
    expect(await outcomeOf(branch(source.id, { image: 'ubuntu-24.04' }))).toBe('validation_error')
    expect(await outcomeOf(branch(source.id, { image: 'nothing' }))).toBe('image_unknown')
    expect(await outcomeOf(branch(newUuid()))).toBe('dock_not_found')
  })

  it('is refused without residue if its disk is too small for the data of a running source', async () => {
    const source = await world.create({ diskGiB: 3 })
    const gib = 1024 ** 3
    const sample: UsageSample = {
      dockId: source.id,
      generation: 1,
      cpuPercent: 0,
      memBytes: 0,
      memLimit: gib,
      rxBytes: 0,
      txBytes: 0,
      diskBytes: 2.5 * gib,
      diskLimit: 3 * gib,
      at: '2026-01-01T00:00:00.000Z',
      source: 'host',
    }
    await world.modules.hostEvents.handle(world.hostId, { type: 'samples', samples: [sample] })
    const small = (diskGiB: number) =>
      branchDock(context(), world.caller, source.id, { ttlSeconds: null, diskGiB, name: 'small' }, 'key')
    expect(await outcomeOf(small(2))).toBe('validation_error')
    const listed = await Array.fromAsync(listDocks(context(), world.caller, { filter: 'e', all: true }))
    expect(listed.flat()).toHaveLength(1)
    expect(await small(3)).toMatchObject({ name: 'small', diskGiB: 3 })
  })
})

describe('a retry of a branch with its key', () => {
  const retry = (id: string, over: { caller?: TestWorld['caller']; name?: string; key?: string } = {}) =>
    branchDock(
      context(),
      over.caller ?? world.caller,
      id,
      { ttlSeconds: null, name: over.name ?? 'copy' },
      over.key ?? 'key',
    )

  it('returns the copy even after its source is deleted, but only to members of its organization', async () => {
    const source = await world.create()
    const copy = await retry(source.id)
    await deleteDock(context(), world.caller, source.id, source.id)
    expect(await retry(source.id)).toEqual(copy)
    const others = [{ caller: world.stranger }, { name: 'other' }, { key: 'other' }]
    for (const other of others) expect(await outcomeOf(retry(source.id, other))).toBe('dock_not_found')
    world.clock.advance(24 * 3600_000)
    expect(await outcomeOf(retry(source.id))).toBe('dock_not_found')
  })

  it('gets idempotency_in_progress while the copy boots, and its source cannot be deleted until then', async () => {
    const source = await world.create()
    const { promise, resolve } = Promise.withResolvers<void>()
    world.host.gate.set('start', promise)
    const first = outcomeOf(retry(source.id))
    await expect.poll(() => world.host.calls.filter((call) => call.method === 'start').length).toBe(2)
    const removal = () => outcomeOf(deleteDock(context(), world.caller, source.id, source.id))
    expect(await removal()).toBe('dock_busy')
    expect(await outcomeOf(retry(source.id))).toBe('idempotency_in_progress')
    resolve()
    expect(await first).toBe('succeeded')
    expect(await removal()).toBe('succeeded')
  })

  it('returns the copy even if its source has become admins only', async () => {
    const source = await world.create()
    const copy = await retry(source.id)
    await sql`update docks set marks = array[${newUuid()}::uuid] where id = ${source.id}`.execute(world.db)
    expect(await retry(source.id)).toEqual(copy)
    expect(await outcomeOf(retry(source.id, { name: 'next', key: 'next' }))).toBe(
      'environment_secrets_admin_only',
    )
  })
})
