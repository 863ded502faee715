import { createLogger } from '@dock/foundation'
import type { SandboxHandle } from '@dock/runtime'
import { createFakeDriver, type FakeDriver } from '@dock/testkit/src/runtime/fake-driver.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { Freezer } from './freezer.ts'

const logger = createLogger('test')
logger.level = 'silent'
const spec = {
  generation: 1,
  hostname: 'dock',
  cpus: 1,
  memoryMiB: 512,
  disk: { mount: '/r' },
  netnsPath: '/n',
}

let driver: FakeDriver
let freezer: Freezer
let one: SandboxHandle
let two: SandboxHandle
beforeEach(async () => {
  driver = createFakeDriver()
  freezer = new Freezer(driver.capabilities.freezing, logger)
  one = await driver.start({ ...spec, dockId: 'one', nameserver: '10.0.0.1' })
  two = await driver.start({ ...spec, dockId: 'two', nameserver: '10.0.0.1' })
  freezer.adopt(one, { isNew: true })
  freezer.adopt(two, { isNew: true })
})

const failNextFreeze = () => driver.failNext('freeze', new Error('no cgroup'), { dockId: 'one' })

describe('a sandbox', () => {
  test('is frozen as long as one cause is left', async () => {
    await freezer.freeze(one, 'warm')
    await freezer.freeze(one, 'idle')
    await freezer.thaw(one, 'warm')
    expect(driver.frozen.has(one.dockId)).toBe(true)
    await freezer.thaw(one, 'idle')
    expect(driver.frozen.has(one.dockId)).toBe(false)
    expect(driver.frozen.has(two.dockId)).toBe(false)
  })

  test('is not thawed by removing a cause that never held it', async () => {
    await freezer.freeze(one, 'warm')
    await freezer.thaw(one, 'idle')
    expect(driver.frozen.has(one.dockId)).toBe(true)
  })

  test('ends in the state of the last call, however quickly the calls follow each other', async () => {
    await Promise.all([
      freezer.freeze(one, 'idle'),
      freezer.thaw(one, 'idle'),
      freezer.freeze(two, 'idle'),
      freezer.thaw(two, 'idle'),
      freezer.freeze(two, 'idle'),
    ])
    expect([driver.frozen.has(one.dockId), driver.frozen.has(two.dockId)]).toEqual([false, true])
  })

  test('that another agent froze is thawed when it is adopted, unless there is a cause', async () => {
    await driver.capabilities.freezing.freeze(one)
    await driver.capabilities.freezing.freeze(two)
    const next = new Freezer(driver.capabilities.freezing, logger)
    next.adopt(one, { isNew: false })
    next.adopt(two, { isNew: false, cause: 'warm' })
    await expect.poll(() => driver.frozen.has(one.dockId)).toBe(false)
    expect(driver.frozen.has(two.dockId)).toBe(true)
  })

  test('that has ended in the meantime is not an error', async () => {
    driver.kill('one')
    await freezer.freeze(one, 'idle')
    await freezer.thaw(one, 'idle')
    await freezer.setGuarding(true)
    expect(driver.frozen.has(two.dockId)).toBe(true)
  })

  test('whose thaw fails reports it, and is thawed by the next call', async () => {
    await freezer.freeze(one, 'idle')
    const { freezing } = driver.capabilities
    const { thaw } = freezing
    freezing.thaw = () => Promise.reject(new Error('no cgroup'))
    await expect(freezer.thaw(one, 'idle')).rejects.toThrow('no cgroup')
    freezing.thaw = thaw
    await freezer.thaw(one, 'idle')
    expect(driver.frozen.has(one.dockId)).toBe(false)
  })

  test('whose freeze fails reports it and is not held by that cause; another cause can still hold it', async () => {
    failNextFreeze()
    const idle = freezer.freeze(one, 'idle')
    const stop = freezer.freeze(one, 'stop')
    await expect(idle).rejects.toThrow('no cgroup')
    await stop
    expect(driver.frozen.has(one.dockId)).toBe(true)
    await freezer.thaw(one, 'stop')
    expect([freezer.shouldBeFrozen(one), driver.frozen.has(one.dockId)]).toEqual([false, false])
  })
})

describe('the guard', () => {
  test('freezes every present and later sandbox, in addition to their own causes', async () => {
    await freezer.freeze(one, 'warm')
    await freezer.setGuarding(true)
    expect([driver.frozen.has(one.dockId), driver.frozen.has(two.dockId)]).toEqual([true, true])
    const late = await driver.start({ ...spec, dockId: 'late', nameserver: '10.0.0.1' })
    freezer.adopt(late, { isNew: true })
    await expect.poll(() => driver.frozen.has(late.dockId)).toBe(true)
    await freezer.thaw(two, 'idle')
    expect(driver.frozen.has(two.dockId)).toBe(true)
    await freezer.setGuarding(false)
    expect([one, two, late].map((each) => driver.frozen.has(each.dockId))).toEqual([true, false, false])
  })
  test('retries a sandbox that could not be frozen at its next call', async () => {
    failNextFreeze()
    await freezer.setGuarding(true)
    expect([
      freezer.shouldBeFrozen(one),
      driver.frozen.has(one.dockId),
      driver.frozen.has(two.dockId),
    ]).toEqual([true, false, true])
    await freezer.setGuarding(true)
    expect(driver.frozen.has(one.dockId)).toBe(true)
  })
})
