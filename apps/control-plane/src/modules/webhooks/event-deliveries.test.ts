import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { expect, it } from 'vitest'
import { withTransaction } from '../../database/database.ts'
import { commitDock } from '../docks/core/dock-commit.ts'
import { insertEndpoint } from './endpoint-store.ts'

let world: TestWorld
useTestWorld((made) => {
  world = made
})

const addEndpoint = async (events: ('dock.ready' | 'dock.error')[]): Promise<string> => {
  const id = newUuid()
  await insertEndpoint(world.db, {
    id,
    organizationId: world.organizationId,
    name: 'hook',
    url: 'https://hooks.example.com/',
    events,
    secretPrefix: 'whsec_xx',
    sealedSecret: 'sealed',
    now: world.clock.now(),
  })
  return id
}

const savedFor = (dockId: string) =>
  world.db.selectFrom('webhook_deliveries').selectAll().where('dock_id', '=', dockId).execute()
const eventsOf = (dockId: string) =>
  world.db.selectFrom('dock_events').selectAll().where('dock_id', '=', dockId).execute()

it('a delivery is written for each endpoint that is subscribed at that moment', async () => {
  const before = await world.create()
  const subscribed = await addEndpoint(['dock.ready'])
  await addEndpoint(['dock.error'])
  const disabled = await addEndpoint(['dock.ready'])
  await world.db
    .updateTable('webhook_endpoints')
    .set({ disabled_at: world.clock.now() })
    .where('id', '=', disabled)
    .execute()
  const after = await world.create()
  expect(await savedFor(before.id)).toEqual([])
  const [event] = await eventsOf(after.id)
  expect(await savedFor(after.id)).toMatchObject([
    {
      endpoint_id: subscribed,
      event_id: event!.id,
      event: 'dock.ready',
      dock_state: 'ready',
      organization_id: world.organizationId,
      workspace_id: world.workspaceId,
      status: 'pending',
      attempts: 0,
    },
  ])
})

it('neither event nor delivery is written if the change is not made, or is rolled back', async () => {
  await addEndpoint(['dock.error'])
  const { id: dockId } = await world.create()
  const count = (await eventsOf(dockId)).length
  const change = (generation: number) => ({
    dockId,
    generation,
    moves: [{ from: 'ready' as const, to: 'error' as const, why: 'lost_for_good' as const }],
    cause: { by: 'host', through: 'host' as const },
    now: world.clock.now(),
    event: 'dock.error' as const,
  })
  expect(await commitDock(world.db, change(7))).toBeNull()
  await expect(
    withTransaction(world.db, async (tx) => {
      expect(await commitDock(tx, change(1))).not.toBeNull()
      throw new Error('roll back')
    }),
  ).rejects.toThrow('roll back')
  expect(await eventsOf(dockId)).toHaveLength(count)
  expect(await savedFor(dockId)).toEqual([])
  expect(await commitDock(world.db, change(1))).not.toBeNull()
  expect(await savedFor(dockId)).toHaveLength(1)
})
