import {
  type ClosureWorld,
  createClosureWorld,
  type Person,
} from '@dock/testkit/src/closure/closure-world.ts'
import { backUpDatabase } from '@dock/testkit/src/closure/restored-database.ts'
import { inventoryOf } from '@dock/testkit/src/docks/fake-host.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'

let world: ClosureWorld
let ada: Person
let bob: Person
beforeEach(async () => {
  world = await createClosureWorld()
  ada = await world.addPerson('ada@example.test')
  bob = await world.addPerson('bob@example.test')
})
afterEach(() => world.server.stop())

const db = () => world.server.database.db
const people = async (): Promise<string[]> =>
  (await db().selectFrom('users').select('email').orderBy('email').execute()).map(({ email }) => email)
const organizationsOf = async (person: Person) =>
  db()
    .selectFrom('memberships')
    .select(['organization_id as id', 'role'])
    .where('user_id', '=', person.id)
    .execute()
const standing = async (id: string): Promise<boolean> =>
  (await db()
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()) !== undefined

/** Sends an inventory with what the host remembers, and waits until it is processed. */
const report = async (): Promise<void> => {
  const { hostEvents } = world.server.controlPlane.docks
  await hostEvents.handle(
    world.hostId,
    inventoryOf({ runtimes: [...world.host.sandboxes.values()], remembered: world.host.instance.watermark }),
  )
  await hostEvents.settled()
}

/** Ada erases her account and Bob deletes an organization. Returns once the host knows of both. */
const eraseAndTell = async (deleted: string): Promise<void> => {
  const erased = await world.call(ada.session, 'POST', '/v1/account/erase', {
    confirmation: 'erase my account data',
  })
  expect(erased.status).toBe(202)
  expect((await world.call(bob.session, 'DELETE', `/v1/organizations/${deleted}`)).status).toBe(200)
  await vi.waitFor(
    async () => {
      world.clock.advance(5_000)
      expect(world.host.instance.erasures).toEqual(
        expect.arrayContaining([
          { kind: 'person', id: ada.id, mac: expect.any(String) },
          { kind: 'organization', id: deleted, mac: expect.any(String) },
        ]),
      )
      expect(await db().selectFrom('organizations').select('id').where('id', '=', deleted).execute()).toEqual(
        [],
      )
    },
    { timeout: 60_000 },
  )
}

it('erases accounts and organizations again after a database restore, and no others', async () => {
  const alone = await world.createOrganization(ada)
  const shared = await world.createOrganization(ada)
  await world.join(bob, shared.organizationId, 'member')
  const deleted = await world.createOrganization(bob)
  const kept = await world.createOrganization(bob)
  const dockId = await world.createDock(ada, alone.workspaceId)
  const restore = await backUpDatabase(db())
  // After the backup, Ada makes Bob an owner, because a sole owner cannot erase her account.
  await db()
    .updateTable('memberships')
    .set({ role: 'owner' })
    .where('organization_id', '=', shared.organizationId)
    .where('user_id', '=', bob.id)
    .execute()
  await eraseAndTell(deleted.organizationId)

  await restore()
  expect(await people()).toContain(ada.email)
  expect(await organizationsOf(ada)).toHaveLength(2)
  expect(await standing(deleted.organizationId)).toBe(true)
  await report()

  expect(await people()).not.toContain(ada.email)
  expect(await people()).toContain(bob.email)
  expect(await organizationsOf(ada)).toEqual([])
  expect(await standing(alone.organizationId)).toBe(false)
  expect(await standing(deleted.organizationId)).toBe(false)
  expect(await organizationsOf(bob)).toEqual(
    expect.arrayContaining([
      { id: shared.organizationId, role: 'owner' },
      { id: kept.organizationId, role: 'owner' },
    ]),
  )
  await expect(world.server.signIn(ada.email, 'a long password')).rejects.toThrow('401')
  await vi.waitFor(
    async () => {
      world.clock.advance(5_000)
      expect(await world.stateOf(dockId)).toBeUndefined()
    },
    { timeout: 60_000 },
  )
})

it('erases nothing if the host remembers no erasures', async () => {
  const { organizationId } = await world.createOrganization(bob)
  await report()
  world.host.instance = {
    watermark: { epoch: 0, startId: '00000000-0000-4000-8000-000000000000', mark: 1 },
    erasures: [],
  }
  await report()
  expect(await people()).toEqual(expect.arrayContaining([ada.email, bob.email]))
  expect(await standing(organizationId)).toBe(true)
})

it('ignores erasures from a host without a valid MAC of the instance', async () => {
  const { organizationId } = await world.createOrganization(bob)
  const { organizationId: deleted } = await world.createOrganization(bob)
  await report()
  await eraseAndTell(deleted)
  const { mac } = world.host.instance.erasures.find(({ id }) => id === deleted)!
  world.host.instance = {
    watermark: { epoch: 0, startId: '00000000-0000-4000-8000-000000000000', mark: 1 },
    erasures: [
      { kind: 'person', id: bob.id },
      { kind: 'person', id: bob.id, mac: 'x'.repeat(43) },
      { kind: 'organization', id: organizationId, mac },
    ],
  }
  await report()
  expect(world.server.controlPlane.docks.context.epoch()).toBe(1)
  expect(await people()).toContain(bob.email)
  expect(await standing(organizationId)).toBe(true)
  const recorded = await sql<{ id: string }>`select id from erasures`.execute(db())
  expect(recorded.rows.map(({ id }) => id).sort()).toEqual([ada.id, deleted].sort())
})
