import { routes } from '@dock/contract'
import { createLogger, newUuid } from '@dock/foundation'
import { addPerson, createFreshDatabase, type FreshDatabase, startTestControlPlane } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { withTransaction } from '../../database/database.ts'
import { createSealer, newRingEntry, parseKeyRing, type Sealer } from '../../sealing/index.ts'
import { removeDocks } from '../docks/delete/remove-docks.ts'
import { stopDock } from '../docks/index.ts'
import { createOrganizationRemoval, type OrganizationResource } from './organization-removal.ts'
import { markOrganizationDeleted } from './organization-store.ts'

let database: FreshDatabase
beforeAll(async () => {
  database = await createFreshDatabase()
})
afterAll(() => database.drop())

let world: TestWorld
let sealer: Sealer
beforeEach(async () => {
  world = await createTestWorld(database.db)
  const ring = parseKeyRing(newRingEntry())
  const column = { table: 't', column: 'c', rowIdColumn: 'id', ownerColumn: 'o' }
  const columns = [{ ...column, ownerKind: 'organization' as const }]
  sealer = createSealer({ db: database.db, clock: world.clock, ring, columns })
  const owner = { kind: 'organization', id: world.organizationId } as const
  await sealer.seal(owner, { table: 't', column: 'c', rowId: 'r' }, 'secret')
})

const logger = createLogger('test')
logger.level = 'silent'
const docksResource: OrganizationResource = {
  name: 'docks',
  remove: (id) => removeDocks(world.modules.context, id),
}
const removalOf = (resources: readonly OrganizationResource[] = [docksResource], withSealer = sealer) =>
  createOrganizationRemoval({ db: world.db, clock: world.clock, logger, sealer: withSealer, resources })
const markDeleted = () =>
  withTransaction(world.db, (tx) =>
    markOrganizationDeleted(tx, { kind: 'platform' }, world.organizationId, world.clock.now()),
  )

/** Runs one round and waits for the operations that it started. */
const round = async (resources?: readonly OrganizationResource[]): Promise<void> => {
  await removalOf(resources).run()
  await world.modules.runner.settled()
}
const left = async () => {
  const result = await sql<{ organizations: number; docks: number; snapshots: number; keys: number }>`select
    (select count(*)::int from organizations where id = ${world.organizationId}) as organizations,
    (select count(*)::int from docks where organization_id = ${world.organizationId}) as docks,
    (select count(*)::int from snapshots where organization_id = ${world.organizationId}) as snapshots,
    (select count(*)::int from data_keys where owner_id = ${world.organizationId}) as keys`.execute(world.db)
  return result.rows[0]!
}
const nothing = { organizations: 0, docks: 0, snapshots: 0, keys: 0 }

describe('a deleted organization', () => {
  it('is hidden from all callers at once, and its slug is available again', async () => {
    const server = await startTestControlPlane()
    try {
      const made = await server.call('POST', '/v1/organizations', { name: 'Acme', slug: 'acme' })
      const { id } = routes.createOrganization.response.parse(made.body.data)
      const [admin, owner] = [
        await addPerson(server, { role: 'admin', organizationId: id }),
        await addPerson(server, { role: 'owner', organizationId: id }),
      ]
      const workspaces = await server.call('GET', `/v1/organizations/${id}/workspaces`)
      const [workspace] = routes.listWorkspaces.response.parse(workspaces.body.data)
      // A similar slug does not collide with the internal slug `deleted.<id>`.
      const squatted = await server.call('POST', '/v1/organizations', { name: 'X', slug: `deleted-${id}` })
      expect(squatted.status).toBe(201)
      const invited = await addPerson(server)
      await server.call('POST', `/v1/organizations/${id}/members`, { email: invited.email })
      const at = `/v1/organizations/${id}`
      const byAdmin = await server.call('DELETE', at, undefined, admin.apiKey)
      expect(byAdmin.body.code).toBe('forbidden')
      expect((await server.call('DELETE', at, undefined, owner.apiKey)).body.data).toEqual({
        deleted: true,
      })
      for (const key of [server.admin.apiKey, admin.apiKey, owner.apiKey]) {
        for (const path of [at, `${at}/members`, `${at}/workspaces`])
          expect((await server.call('GET', path, undefined, key)).body.code).toBe('organization_not_found')
        const read = await server.call('GET', `/v1/workspaces/${workspace!.id}`, undefined, key)
        expect(read.body.code).toBe('workspace_not_found')
        expect((await server.call('DELETE', at, undefined, key)).status).toBe(404)
      }
      const own = await server.call('GET', '/v1/me/invitations', undefined, invited.apiKey)
      expect(own.body.data).toEqual([])
      const again = await server.call('POST', '/v1/organizations', { name: 'Acme', slug: 'acme' })
      expect(again.status).toBe(201)
    } finally {
      await server.stop()
    }
  })

  it('loses its Docks and Snapshots through operations, then its row together with its data key', async () => {
    const [running, archived] = [await world.create(), await world.create()]
    await stopDock(world.modules.context, world.caller, archived.id, { force: false })
    expect([world.host.sandboxes.size, world.host.captures.size]).toEqual([1, 1])
    await markDeleted()
    await round()
    expect(await left()).toEqual({ organizations: 1, docks: 0, snapshots: 0, keys: 1 })
    expect([world.host.sandboxes.size, world.host.captures.size]).toEqual([0, 0])
    const operations = await sql<{ targetId: string }>`select target_id as "targetId" from operations
      where kind = 'delete' and status = 'completed' and cause ->> 'by' = 'organization'`.execute(world.db)
    expect(operations.rows.map(({ targetId }) => targetId).sort()).toEqual([running.id, archived.id].sort())
    await round()
    expect(await left()).toEqual(nothing)
    expect(await world.reserved()).toMatchObject({ slots: 0, recounted: 0 })
  })

  it('keeps its rows and its key until an offline host returns', async () => {
    await world.create()
    world.host.online = false
    await markDeleted()
    for (let n = 0; n < 3; n += 1) await round()
    expect(await left()).toEqual({ organizations: 1, docks: 1, snapshots: 0, keys: 1 })
    world.host.online = true
    await world.report()
    await world.modules.runner.sweep()
    await world.modules.runner.settled()
    await round()
    expect(await left()).toEqual(nothing)
  })

  it('waits for a running operation on a Dock and removes the Dock afterwards', async () => {
    const dock = await world.create()
    const gate = Promise.withResolvers<void>()
    world.host.gate.set('stop', gate.promise)
    const stopping = stopDock(world.modules.context, world.caller, dock.id, { force: false })
    await expect.poll(() => world.host.calls.some(({ method }) => method === 'stop')).toBe(true)
    await markDeleted()
    await removalOf().run()
    expect(await left()).toMatchObject({ organizations: 1, docks: 1 })
    gate.resolve()
    await stopping
    await round()
    await round()
    expect(await left()).toEqual(nothing)
    expect(world.host.captures.size).toBe(0)
  })

  it('removes a Dock whose creation was running during the deletion', async () => {
    await markDeleted()
    const resource: OrganizationResource = {
      name: 'docks, counted too early',
      remove: async () => 0,
    }
    // The request was authorized before the deletion. Restore the membership to simulate that.
    await sql`insert into memberships (organization_id, user_id, role)
      values (${world.organizationId}, ${world.caller.userId}, 'member')`.execute(world.db)
    await world.create()
    await round([resource])
    expect(await left()).toMatchObject({ organizations: 1, docks: 1, keys: 1 })
    await round()
    await round()
    expect(await left()).toEqual(nothing)
  })

  it('keeps both its row and its key when the last step is interrupted', async () => {
    await markDeleted()
    const broken: Sealer = { ...sealer, destroyKey: () => Promise.reject(new Error('killed')) }
    await removalOf([docksResource], broken).run()
    expect(await left()).toMatchObject({ organizations: 1, keys: 1 })
    await round()
    expect(await left()).toEqual(nothing)
  })

  it('keeps its row while one resource cannot be removed, and removes the others', async () => {
    await world.create()
    await markDeleted()
    let fails = true
    const failing: OrganizationResource = {
      name: 'objects',
      remove: async () => {
        if (fails) throw new Error('the object store is unreachable')
        return 0
      },
    }
    for (let n = 0; n < 2; n += 1) await round([failing, docksResource])
    expect(await left()).toEqual({ organizations: 1, docks: 0, snapshots: 0, keys: 1 })
    fails = false
    await round([failing, docksResource])
    expect(await left()).toEqual(nothing)
  })

  it('is removed although as many as fit a round cannot be removed now', async () => {
    const stuck = Array.from({ length: 50 }, () => newUuid())
    await sql`insert into organizations (id, name, slug, deleted_at)
      select id, 'Stuck', id::text, ${new Date(0)} from unnest(${stuck}::uuid[]) s (id)`.execute(world.db)
    await markDeleted()
    const slow: OrganizationResource = { name: 'slow', remove: async (id) => (stuck.includes(id) ? 1 : 0) }
    for (let rounds = 0; rounds < 20 && (await left()).organizations > 0; rounds++)
      await removalOf([docksResource, slow]).run()
    expect((await left()).organizations).toBe(0)
    await sql`delete from organizations where id = any(${stuck}::uuid[])`.execute(world.db)
  })

  it('leaves other organizations alone', async () => {
    const other = await createTestWorld(database.db)
    const kept = await other.create()
    await world.create()
    await markDeleted()
    for (let n = 0; n < 2; n += 1) await round()
    expect(await left()).toEqual(nothing)
    expect(other.host.sandboxes.has(kept.id)).toBe(true)
  })
})
