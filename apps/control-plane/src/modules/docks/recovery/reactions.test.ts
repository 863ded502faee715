import { newUuid } from '@dock/foundation'
import type { TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { outcomeOf, useTestWorld } from '@dock/testkit/src/docks/each-world.ts'
import { expect, it } from 'vitest'
import { readDockStats, stopDock } from '../index.ts'

let world: TestWorld
useTestWorld((fresh) => {
  world = fresh
})

const died = (hostId: string, dockId: string) =>
  world.modules.hostEvents.handle(hostId, { type: 'dock.died', dockId, generation: 1 })
const settle = async () => {
  await world.modules.hostEvents.recoverHeld()
  await world.modules.runner.settled()
}

it('a death reported by another host does not reboot the Dock', async () => {
  const { id } = await world.create()
  await died(newUuid(), id)
  await settle()
  expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 1 })
  await died(world.hostId, id)
  await settle()
  expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 2, state: 'running' })
})

it('a death reported by another host does not replace that of its own host', async () => {
  const { id } = await world.create()
  const gate = Promise.withResolvers<void>()
  world.host.gate.set('stop', gate.promise)
  world.host.failures.set('stop', ['failed'])
  const stopping = outcomeOf(stopDock(world.modules.context, world.caller, id, { force: false }))
  await expect.poll(() => world.host.calls.some(({ method }) => method === 'stop')).toBe(true)
  await died(world.hostId, id)
  await died(newUuid(), id)
  gate.resolve()
  expect(await stopping).toBe('service_unavailable')
  await settle()
  expect(world.host.sandboxes.get(id)).toMatchObject({ generation: 2, state: 'running' })
})

it('samples from another host are ignored', async () => {
  const { id } = await world.create()
  const sample = {
    dockId: id,
    generation: 1,
    cpuPercent: 10,
    memBytes: 100,
    memLimit: 1000,
    diskBytes: 5,
    diskLimit: 10,
    rxBytes: 1,
    txBytes: 2,
    at: '2026-01-01T00:00:00.000Z',
    source: 'host' as const,
  }
  const sampled = (hostId: string, memBytes: number) =>
    world.modules.hostEvents.handle(hostId, { type: 'samples', samples: [{ ...sample, memBytes }] })
  const stats = () => readDockStats(world.modules.context, world.caller, id, { window: '1h' })
  await sampled(newUuid(), 999)
  expect(await stats()).toMatchObject({ sample: null, window: { samples: 0 } })
  await sampled(world.hostId, 100)
  await sampled(newUuid(), 999)
  expect(await stats()).toMatchObject({
    sample: { memBytes: 100 },
    window: { samples: 1, peak: { memBytes: 100 } },
  })
})

it('the newest twenty memory shortages of a Dock are kept, only from its own host', async () => {
  const { id } = await world.create()
  const ranOut = (hostId: string, process: string | null) =>
    world.modules.hostEvents.handle(hostId, {
      type: 'dock.out_of_memory',
      dockId: id,
      generation: 1,
      process,
      count: 1,
    })
  await ranOut(newUuid(), 'forged')
  for (let number = 0; number < 25; number++) await ranOut(world.hostId, `hog${number}`)
  await ranOut(world.hostId, null)
  const kept = await world.db
    .selectFrom('dock_memory_shortages')
    .select('process')
    .where('dock_id', '=', id)
    .orderBy('id')
    .execute()
  expect(kept).toHaveLength(20)
  expect(kept.map(({ process }) => process)).toEqual([
    ...Array.from({ length: 19 }, (_, index) => `hog${index + 6}`),
    null,
  ])
})
