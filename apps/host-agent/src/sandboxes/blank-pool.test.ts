import { createLogger } from '@dock/foundation'
import type { Blanks } from '@dock/runtime'
import { createMemoryNetworks } from '@dock/testkit/src/host-agent/memory-networks.ts'
import { bareDriver, createFakeDriver, type FakeDriver } from '@dock/testkit/src/runtime/fake-driver.ts'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { beforeEach, expect, test } from 'vitest'
import { BlankPool } from './blank-pool.ts'
import { BootQueue } from './boot-queue.ts'

const [small, large] = [
  { cpus: 1, memoryMiB: 512 },
  { cpus: 2, memoryMiB: 4096 },
]
const waited = { inBackground: false }
const logger = createLogger('test')
logger.level = 'silent'

const makePool = (driver = createFakeDriver()) => {
  const [clock, networks, bootQueue] = [createVirtualClock(), createMemoryNetworks(), new BootQueue(1)]
  const machine = { memory: 1, yieldToCommands: async (): Promise<void> => undefined }
  const pool = new BlankPool({
    ...{ driver, networks, bootQueue, clock, logger },
    ...{ inMemory: { path: '/run/dock', gid: 1000 }, memoryAvailable: () => machine.memory },
    yieldToCommands: () => machine.yieldToCommands(),
  })
  return { driver, clock, networks, bootQueue, machine, pool }
}

let world: ReturnType<typeof makePool>
beforeEach(() => {
  world = makePool()
  world.pool.start()
})

/** Boots a Dock of this size that somebody waits for. Returns the network of its blank, if it got one. */
const boot = ({ pool, bootQueue }: typeof world, size = small): Promise<string | null> =>
  bootQueue.run(async () => pool.take(size, waited))
/** Lets timers and what they start end. */
const pass = async (milliseconds = 10): Promise<void> => {
  await world.clock.advanceInSteps(milliseconds)
}
const sizes = () => [...world.driver.blanks.values()].map(({ memoryMiB }) => memoryMiB)

test('creates nothing before a boot has shown a size, then two of that size', async () => {
  await pass()
  expect(sizes()).toEqual([])
  expect(await boot(world)).toBeNull()
  await pass()
  expect(sizes()).toEqual([512, 512])
})

test('gives a blank to a boot of its size that somebody waits for, once, and creates another', async () => {
  await boot(world)
  await pass()
  expect(world.pool.take(large, waited)).toBeNull()
  expect(world.pool.take(small, { inBackground: true })).toBeNull()
  const given = [world.pool.take(small, waited), world.pool.take(small, waited)]
  expect(new Set(given)).toEqual(new Set(world.driver.blanks.keys()))
  expect(world.pool.take(small, waited)).toBeNull()
  await boot(world)
  await pass()
  expect(world.driver.blanks.size).toBe(4)
})

test('creates none while Docks boot', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow = world.bootQueue.run(() => promise)
  world.pool.take(small, waited)
  await pass()
  expect(sizes()).toEqual([])
  resolve()
  await slow
  await pass()
  expect(sizes()).toEqual([512, 512])
})

test('waits for a moment without commands, and not for a Dock that boots meanwhile', async () => {
  let free = Promise.withResolvers<void>()
  world.machine.yieldToCommands = () => free.promise
  await boot(world)
  await pass()
  expect(sizes()).toEqual([])
  const { promise, resolve } = Promise.withResolvers<void>()
  const slow = world.bootQueue.run(() => promise)
  free.resolve()
  await pass()
  expect(sizes()).toEqual([])
  free = Promise.withResolvers()
  resolve()
  await slow
  free.resolve()
  await pass()
  expect(sizes()).toEqual([512, 512])
})

test('follows the size that most boots ask for, and keeps the present one at a tie', async () => {
  await boot(world)
  await pass()
  world.pool.take(large, { inBackground: true })
  world.pool.take(large, { inBackground: true })
  await boot(world, large)
  await pass()
  expect(sizes()).toEqual([512, 512])
  await boot(world, large)
  await pass()
  expect(sizes()).toEqual([4096, 4096])
})

test('gives all blanks up when memory is scarce, and creates none before it is roomy', async () => {
  await boot(world)
  await pass()
  const [first] = world.driver.blanks.keys()
  world.machine.memory = 0.15
  await pass(10_000)
  expect(sizes()).toEqual([])
  // A released network is not the Dock's.
  expect((await world.networks.create('dock', first)).netnsPath).not.toBe(first)
  world.machine.memory = 0.25
  await boot(world)
  await pass(60_000)
  expect(sizes()).toEqual([])
  world.machine.memory = 0.35
  await boot(world)
  await pass()
  expect(sizes()).toEqual([512, 512])
})

test('sets no timer while there is nothing to do', async () => {
  await boot(world)
  await pass()
  expect(world.clock.pending()).toHaveLength(1)
  world.machine.memory = 0
  await pass(60_000)
  expect(world.clock.pending()).toEqual([])
})

test('removes all at its end', async () => {
  await boot(world)
  await pass()
  await world.pool.close()
  expect(sizes()).toEqual([])
  expect(world.clock.pending()).toEqual([])
})

/** Replaces functions of a driver that creates blanks. */
const driverWith = (
  changed: (blanks: FakeDriver['capabilities']['blanks']) => Partial<Blanks>,
): FakeDriver => {
  const driver = createFakeDriver()
  const { blanks } = driver.capabilities
  return {
    ...driver,
    capabilities: { ...driver.capabilities, blanks: { ...blanks, ...changed(blanks) } },
  }
}

test('pauses after a failure, and longer if this machine creates none', async () => {
  let calls = 0
  const create = async (): Promise<boolean> => (calls++ === 0 ? Promise.reject(new Error('no')) : false)
  world = makePool(driverWith(() => ({ create })))
  world.pool.start()
  await boot(world)
  await pass(10_000)
  expect(calls).toBe(1)
  await pass(60_000)
  await pass(60_000)
  expect(calls).toBe(2)
  await pass(600_000)
  expect(calls).toBe(3)
})

test('gives the network of a blank that cannot be removed to no Dock', async () => {
  let fails = true
  const removed: string[] = []
  const create = async (): Promise<boolean> => Promise.reject(new Error('half of it was created'))
  const remove = async (netnsPath: string): Promise<void> => {
    if (fails) throw new Error('it is busy')
    removed.push(netnsPath)
  }
  world = makePool(driverWith(() => ({ create, remove })))
  const released: string[] = []
  const { release } = world.networks
  world.networks.release = async (netnsPath) => {
    released.push(netnsPath)
    await release(netnsPath)
  }
  world.pool.start()
  await boot(world)
  await pass()
  expect(released).toEqual([])
  fails = false
  await pass(60_000)
  expect(removed).toHaveLength(1)
  expect(released).toEqual(removed)
})

test('does nothing on a runtime without blanks', async () => {
  const driver = createFakeDriver()
  const { networks, bootQueue, clock } = world
  const pool = new BlankPool({
    ...{ driver: bareDriver(driver), networks, bootQueue, clock, logger, memoryAvailable: () => 1 },
    yieldToCommands: async () => undefined,
    inMemory: { path: '/run/dock', gid: 1000 },
  })
  pool.start()
  expect(await boot({ ...world, pool })).toBeNull()
  await pass()
  expect(driver.blanks.size).toBe(0)
})
