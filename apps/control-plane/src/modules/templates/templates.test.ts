/** Templates with a real database and a fake host. */
import { newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf } from '@dock/testkit/src/docks/each-world.ts'
import { abandonDuring, callsOf, restoreAndResume } from '@dock/testkit/src/docks/lost-time-world.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { OperationRow } from '../../engine/index.ts'
import { readData } from '../../engine/operation-data.ts'
import { createMember, createVisitor, type Member, type Visitor } from '../accounts/index.ts'
import { deleteDock, resumeDock, stopDock } from '../docks/index.ts'
import { createTemplate, deleteTemplate, listTemplates, readTemplate } from './index.ts'
import { createSaveTemplateSaga } from './template-saga.ts'

let database: FreshDatabase
let world: TestWorld
let admin: Visitor
let member: Member
const gates = { retentionEnabled: async () => false, hasConnectors: async () => false }

beforeAll(async () => {
  database = await createFreshDatabase()
  world = await createTestWorld(database.db)
  await sql`update memberships set role = 'admin' where organization_id = ${world.organizationId}`.execute(
    world.db,
  )
  const { organizationId } = world
  admin = createVisitor(world.caller, { role: 'admin', outsider: 'dock_not_found' })
  member = createMember(
    world.caller,
    { organizationId, role: 'admin' },
    { role: 'admin', outsider: 'organization_not_found' },
  )
})
beforeEach(() => sql`delete from templates`.execute(world.db))
afterAll(() => database.drop())

const save = (dockId: string, name = 'golden', over: Partial<typeof gates> = {}) =>
  createTemplate(world.modules.context, { ...gates, ...over }, admin, { dockId, name })

const archived = async (): Promise<string> => {
  const dock = await world.create()
  await stopDock(world.modules.context, world.caller, dock.id, { force: false })
  return dock.id
}

describe('saving', () => {
  it('captures a running Dock, which keeps running, and returns the ready Template', async () => {
    const dock = await world.create()
    const template = await save(dock.id)
    expect(template).toMatchObject({
      name: 'golden',
      status: 'ready',
      sourceDockId: dock.id,
      sizeBytes: 1234,
    })
    expect(await readTemplate(world.db, member, 'golden')).toEqual(template)
    expect(await listTemplates(world.db, admin)).toEqual([template])
    const row = await sql<{ state: string }>`select state from docks where id = ${dock.id}`.execute(world.db)
    expect(row.rows[0]!.state).toBe('ready')
  })

  it('resumed after a database restore, uses the capture that was made in the lost time', async () => {
    const dock = await world.create()
    await abandonDuring(world, 'capture', () => save(dock.id))
    const { rows } = await sql<{ id: string }>`
      select id from snapshots where dock_id = ${dock.id}`.execute(world.db)
    world.host.captures.add(rows[0]!.id)
    world.host.sandboxes.set(dock.id, { dockId: dock.id, generation: 2, state: 'running', ip: '10.0.0.9' })
    await restoreAndResume(world)
    expect(await readTemplate(world.db, member, 'golden')).toMatchObject({ status: 'ready', sizeBytes: 1234 })
    expect(world.host.captures.has(rows[0]!.id)).toBe(true)
  })

  it('is not replaced by a forced stop while it waits for a silent host, and fails once the host is lost', async () => {
    const dock = await world.create()
    await abandonDuring(world, 'capture', () => save(dock.id))
    world.clock.advance(10_000)
    world.host.online = false
    const next = world.another()
    await next.start()
    const status = async () =>
      (
        await sql<{ status: string }>`select status from operations
          where dock_id = ${dock.id} and kind = 'save-template'`.execute(world.db)
      ).rows[0]?.status
    await expect.poll(status, { timeout: 30_000 }).toBe('blocked')
    const { caller } = world
    expect(await outcomeOf(stopDock(next.context, caller, dock.id, { force: true }))).toBe('dock_busy')
    expect(await outcomeOf(deleteDock(next.context, caller, dock.id, dock.id))).toBe('snapshot_in_use')
    await world.beSilent(310_000, next)
    await expect.poll(status, { timeout: 30_000 }).toBe('completed')
    expect((await listTemplates(world.db, admin)).map((template) => template.status)).toEqual(['failed'])
    const removed = await deleteDock(next.context, caller, dock.id, dock.id)
    expect(removed.operation.status).toBe('completed')
    await next.stop()
    world.host.online = true
    await world.report()
  })

  it('fails on a silent host and releases the Dock; the host removes the capture when it reconnects', async () => {
    const dock = await world.create()
    const before = world.host.captures.size
    world.host.failures.set('capture', ['lost-after'])
    expect(await outcomeOf(save(dock.id))).toBe('service_unavailable')
    expect((await listTemplates(world.db, admin)).map(({ status }) => status)).toEqual(['failed'])
    expect(world.host.captures.size).toBe(before + 1)
    await world.report()
    expect(world.host.captures.size).toBe(before)
    expect(await outcomeOf(save(dock.id))).toBe('succeeded')
    await deleteTemplate(world.modules.context, member, 'golden')
    await deleteDock(world.modules.context, world.caller, dock.id, dock.id)
  })

  it('leaves the Snapshot to the process that has taken the lease meanwhile', async () => {
    const dock = await world.create()
    const gate = Promise.withResolvers<void>()
    world.host.gate.set('capture', gate.promise)
    const late = outcomeOf(save(dock.id))
    await expect.poll(() => callsOf(world, 'capture').at(-1)?.dockId, { timeout: 30_000 }).toBe(dock.id)
    world.host.gate.delete('capture')
    const taken = await sql<OperationRow>`update operations set lease_owner = 'another'
      where dock_id = ${dock.id} and kind = 'save-template' returning id, organization_id as "organizationId", kind,
        target_id as "targetId", dock_id as "dockId", host_id as "hostId", generation, data, cause, step`.execute(
      world.db,
    )
    gate.resolve()
    expect(await late).toBe('service_unavailable')
    const snapshots = async () =>
      (
        await sql`select s.status, (select count(*) from host_orders o where o.thing_id = s.id)::int as orders
          from snapshots s where s.dock_id = ${dock.id}`.execute(world.db)
      ).rows
    expect(await snapshots()).toEqual([{ status: 'saving', orders: 0 }])
    const { db, clock, host: gateway } = world
    const origins = { isInherited: async () => false, isOfLostTime: async () => false }
    const other = createSaveTemplateSaga({ db, clock, gateway, owner: 'another', origins })
    await other.fail(readData(other.data, taken.rows[0]!), {
      code: 'service_unavailable',
      message: 'the capture failed',
    })
    expect(await snapshots()).toEqual([{ status: 'failed', orders: 1 }])
  })

  it('uses the latest Snapshot of an archived Dock', async () => {
    const id = await archived()
    const captures = world.host.captures.size
    expect((await save(id)).status).toBe('ready')
    expect(world.host.captures.size).toBe(captures)
  })

  it('is a conflict if the Snapshot of the archived Dock is deleted meanwhile', async () => {
    const dockId = await archived()
    const deleting = async () => {
      await sql`delete from snapshots where dock_id = ${dockId}`.execute(world.db)
      return false
    }
    expect(await outcomeOf(save(dockId, 'golden', { hasConnectors: deleting }))).toBe('conflict')
    expect(await listTemplates(world.db, admin)).toEqual([])
  })

  it('replaces the Template of that name, but keeps it if the save fails', async () => {
    const first = await world.create()
    const old = await save(first.id)
    const second = await world.create()
    world.host.failures.set('capture', ['failed'])
    expect(await outcomeOf(save(second.id))).toBe('service_unavailable')
    expect((await readTemplate(world.db, member, 'golden')).id).toBe(old.id)
    expect((await listTemplates(world.db, admin)).map(({ status }) => status).sort()).toEqual([
      'failed',
      'ready',
    ])
    const fresh = await save(second.id)
    expect((await readTemplate(world.db, member, 'golden')).id).toBe(fresh.id)
    expect(await listTemplates(world.db, admin)).toHaveLength(1)
  })

  it('is limited to 10 names per organization, even under a race; replacing one is always allowed', async () => {
    const id = await archived()
    for (let each = 0; each < 9; each++) await save(id, `template-${each}`)
    const others = await Promise.all([archived(), archived(), archived()])
    const codes = await Promise.all(others.map((each, at) => outcomeOf(save(each, `raced-${at}`))))
    expect(codes.sort()).toEqual(['succeeded', 'template_limit_reached', 'template_limit_reached'])
    expect(await outcomeOf(save(id, 'one-more'))).toBe('template_limit_reached')
    expect((await save(id, 'template-3')).status).toBe('ready')
  })

  it('leaves one ready Template if two saves of a name run concurrently', async () => {
    const [one, two] = [await world.create(), await world.create()]
    const codes = await Promise.all([outcomeOf(save(one.id)), outcomeOf(save(two.id))])
    expect(codes).toContain('succeeded')
    expect(codes.every((each) => ['succeeded', 'conflict'].includes(each))).toBe(true)
    const ready = (await listTemplates(world.db, admin)).filter(({ status }) => status === 'ready')
    expect(ready).toHaveLength(1)
  })

  it('is refused with the code of the reason', async () => {
    const dock = await world.create()
    expect(await outcomeOf(save(dock.id, 'golden', { retentionEnabled: async () => true }))).toBe(
      'zdr_blocks_templates',
    )
    expect(await outcomeOf(save('no-uuid'))).toBe('dock_not_found')
    expect(await outcomeOf(save(newUuid()))).toBe('dock_not_found')
    await sql`update docks set state = 'unreachable' where id = ${dock.id}`.execute(world.db)
    expect(await outcomeOf(save(dock.id))).toBe('dock_not_running')
    await sql`update docks set state = 'ready' where id = ${dock.id}`.execute(world.db)
    const kept = await world.create()
    await stopDock(world.modules.context, world.caller, kept.id, { force: true })
    expect(await outcomeOf(save(kept.id))).toBe('conflict')
  })

  it('is a conflict if another operation holds the Dock, for the route has no code for a busy Dock', async () => {
    const dock = await world.create()
    const { promise, resolve } = Promise.withResolvers<void>()
    world.host.gate.set('capture', promise)
    const first = save(dock.id, 'first')
    await expect.poll(() => world.host.calls.at(-1)?.method).toBe('capture')
    expect(await outcomeOf(save(dock.id, 'second'))).toBe('conflict')
    world.host.gate.delete('capture')
    resolve()
    await first
  })
})

describe('a new Dock', () => {
  it('starts from the Template, with its image and a disk that its data fit on', async () => {
    const dock = await world.create({ diskGiB: 30 })
    await save(dock.id)
    const made = await world.create({ from: 'golden', diskGiB: undefined })
    expect(made).toMatchObject({ state: 'ready', fromTemplate: 'golden', image: dock.image, diskGiB: 30 })
    await sql`update snapshots set size_bytes = ${2 * 1024 ** 3}`.execute(world.db)
    expect((await world.create({ from: 'golden', diskGiB: 4 })).diskGiB).toBe(4)
    await expect(world.create({ from: 'golden', diskGiB: 1 })).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringMatching(/^diskGiB: /),
    })
  })

  it('is refused if the Template or its Snapshot is missing, or if another image is requested', async () => {
    expect(await outcomeOf(world.create({ from: 'nowhere' }))).toBe('template_not_found')
    const dock = await world.create()
    await save(dock.id)
    expect(await outcomeOf(world.create({ from: 'golden', image: 'ubuntu-24.04' }))).toBe('validation_error')
    expect(await outcomeOf(world.create({ from: 'golden', image: 'nothing' }))).toBe('image_unknown')
    await sql`update templates set snapshot_id = null`.execute(world.db)
    expect(await outcomeOf(world.create({ from: 'golden' }))).toBe('template_source_missing')
  })

  it('is refused to members if the Template comes from a Dock with connectors', async () => {
    const dock = await world.create()
    await save(dock.id, 'golden', { hasConnectors: async () => true })
    expect((await world.create({ from: 'golden' })).state).toBe('ready')
    await sql`update memberships set role = 'member' where organization_id = ${world.organizationId}`.execute(
      world.db,
    )
    expect(await outcomeOf(world.create({ from: 'golden' }))).toBe('connector_admin_only')
    await sql`update memberships set role = 'admin' where organization_id = ${world.organizationId}`.execute(
      world.db,
    )
  })
})

describe('deleting', () => {
  it('frees the name, and the source Dock can be deleted', async () => {
    const id = await archived()
    await save(id)
    const remove = () => deleteDock(world.modules.context, world.caller, id, id)
    expect(await outcomeOf(remove())).toBe('snapshot_in_use')
    const { operation } = await deleteTemplate(world.modules.context, member, 'golden')
    expect(operation).toMatchObject({ targetType: 'template', status: 'completed' })
    expect(await outcomeOf(readTemplate(world.db, member, 'golden'))).toBe('template_not_found')
    expect(await outcomeOf(deleteTemplate(world.modules.context, member, 'golden'))).toBe(
      'template_not_found',
    )
    expect((await remove()).operation.status).toBe('completed')
  })

  it('does not affect Docks that started from it', async () => {
    const id = await archived()
    await save(id)
    const made = await world.create({ from: 'golden' })
    await deleteTemplate(world.modules.context, member, 'golden')
    await stopDock(world.modules.context, world.caller, made.id, { force: false })
    expect((await resumeDock(world.modules.context, world.caller, made.id, {})).state).toBe('ready')
  })
})
