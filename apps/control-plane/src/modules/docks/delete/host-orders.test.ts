import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { type OrderForHost, saveHostOrders } from '../../hosts/index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const saveOrders = async (...orders: Omit<OrderForHost, 'hostId'>[]): Promise<void> => {
  const all = orders.map((order) => ({ ...order, hostId: world.hostId }))
  await saveHostOrders(all, world.clock.now()).execute(world.db)
}
const savedOrders = async () =>
  (
    await sql<{ generation: number }>`select generation from host_orders where host_id = ${world.hostId}
      order by generation`.execute(world.db)
  ).rows.map(({ generation }) => generation)
const callsOf = (method: string) => world.host.calls.filter((call) => call.method === method)

it('orders are executed at the next inventory, and then deleted', async () => {
  const [dockId, captureId] = [newUuid(), newUuid()]
  world.host.failures.set('destroy', ['lost'])
  await saveOrders(
    { kind: 'dock', thingId: dockId, generation: 4 },
    { kind: 'capture', thingId: captureId, generation: 0 },
  )
  expect(callsOf('destroy')).toEqual([])
  await world.report()
  // The order whose command failed is kept, the other one is deleted.
  expect(callsOf('destroy')).toMatchObject([{ dockId, body: { generation: 4 } }])
  expect(callsOf('destroyCapture')).toMatchObject([{ dockId: captureId }])
  expect(await savedOrders()).toEqual([4])
  await world.report()
  expect(callsOf('destroy')).toHaveLength(2)
  expect(await savedOrders()).toEqual([])
  await world.report()
  expect(callsOf('destroy')).toHaveLength(2)
})

it('orders for the same Dock are merged into one, with the newest generation', async () => {
  const thingId = newUuid()
  await saveOrders({ kind: 'dock', thingId, generation: 4 }, { kind: 'dock', thingId, generation: 2 })
  await saveOrders({ kind: 'dock', thingId, generation: 3 })
  expect(await savedOrders()).toEqual([4])
})

it('an order does not destroy a newer generation, and is deleted anyway', async () => {
  const { id } = await world.create()
  const sandbox = world.host.sandboxes.get(id)!
  world.host.sandboxes.set(id, { ...sandbox, generation: 2 })
  await sql`update docks set generation = 2 where id = ${id}`.execute(world.db)
  await saveOrders({ kind: 'dock', thingId: id, generation: 1 })
  await world.report()
  expect(world.host.sandboxes.has(id)).toBe(true)
  expect(await savedOrders()).toEqual([])
})

it('orders for Docks are executed before older orders for captures, which their failures do not stop', async () => {
  const captures = Array.from({ length: 130 }, newUuid)
  await saveOrders(...captures.map((thingId) => ({ kind: 'capture' as const, thingId, generation: 0 })))
  world.clock.advance(1000)
  const dockId = newUuid()
  await saveOrders({ kind: 'dock', thingId: dockId, generation: 4 })
  // The host refuses more orders than are read at once.
  world.host.failures.set(
    'destroyCapture',
    Array.from({ length: 110 }, () => 'failed' as const),
  )
  await world.report()
  expect(world.host.calls.filter(({ method }) => method.startsWith('destroy'))[0]).toMatchObject({ dockId })
  expect(new Set(callsOf('destroyCapture').map((call) => call.dockId))).toEqual(new Set(captures))
  expect(await savedOrders()).toHaveLength(110)
  await world.report()
  expect(await savedOrders()).toEqual([])
})

it('orders that a host always refuses do not keep it from later ones', async () => {
  const refused = Array.from({ length: 501 }, newUuid)
  await saveOrders(...refused.map((thingId) => ({ kind: 'capture' as const, thingId, generation: 0 })))
  world.clock.advance(1000)
  const later = newUuid()
  await saveOrders({ kind: 'capture', thingId: later, generation: 0 })
  world.host.failures.set(
    'destroyCapture',
    Array.from({ length: 501 }, () => 'failed' as const),
  )
  await world.report()
  expect(callsOf('destroyCapture')).toHaveLength(500)
  await world.report()
  expect(callsOf('destroyCapture')[501]).toMatchObject({ dockId: later })
  // The next round begins again with the oldest.
  await world.report()
  expect(await savedOrders()).toHaveLength(1)
})

it('a round of orders ends if the host is no longer connected', async () => {
  const captures = Array.from({ length: 3 }, newUuid)
  await saveOrders(...captures.map((thingId) => ({ kind: 'capture' as const, thingId, generation: 0 })))
  world.host.failures.set('destroyCapture', ['unlinked'])
  await world.report()
  expect(callsOf('destroyCapture')).toHaveLength(1)
  await world.report()
  expect(await savedOrders()).toEqual([])
})
