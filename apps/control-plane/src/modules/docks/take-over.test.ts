import { expect, it } from 'vitest'
import { eachInAWorld } from './test-each-world.ts'
import type { TestWorld } from './test-world.ts'

let world: TestWorld
eachInAWorld((fresh) => {
  world = fresh
})

const starts = () => world.host.calls.filter((call) => call.method === 'start').length

/** A create whose start hangs at the host, as in a process that then dies. */
const hangingCreate = async () => {
  const gate = Promise.withResolvers<void>()
  world.host.gate.set('start', gate.promise)
  const create = world.create()
  await expect.poll(starts, { timeout: 60_000 }).toBe(1)
  return {
    open: gate.resolve,
    create: create.then(
      () => 'created',
      (error: unknown) => error,
    ),
  }
}

it('a process that starts alone takes up at once what an earlier one had under way', async () => {
  const { open, create } = await hangingCreate()
  const next = world.another()
  await next.runner.sweep()
  expect(starts()).toBe(1)
  await next.start()
  await expect.poll(starts, { timeout: 60_000 }).toBe(2)
  open()
  await next.runner.settled()
  await next.stop()
  // The earlier process was not dead after all: it has lost its lease, and changes nothing.
  expect(await create).toMatchObject({ code: 'service_unavailable' })
  expect(world.host.sandboxes.size).toBe(1)
  expect(await world.reserved()).toMatchObject({ slots: 1, recounted: 1 })
})
