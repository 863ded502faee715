/** Looks up a Dock's organization, only for the current generation on the current host. */
import { newUuid } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOrganizationOf } from './organization-of.ts'

let database: FreshDatabase
let world: TestWorld
beforeAll(async () => {
  database = await createFreshDatabase()
  world = await createTestWorld(database.db)
})
afterAll(() => database.drop())

it('returns the organization only for the Dock’s current host and generation', async () => {
  const organizationOf = createOrganizationOf(database.db)
  const { id: dockId } = await world.create()
  const boot = { dockId, hostId: world.hostId, generation: 1 }
  expect(await organizationOf(boot)).toBe(world.organizationId)
  for (const other of [{ dockId: newUuid() }, { hostId: newUuid() }, { generation: 2 }])
    expect(await organizationOf({ ...boot, ...other })).toBeNull()
})
