/** Docks that get a blank sandbox, which was created before it was known for which Dock. */
import { newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, beforeEach, expect, test } from 'vitest'

let host: Awaited<ReturnType<typeof createMemoryHost>>
let endWatch: () => void
beforeEach(async () => {
  host = await createMemoryHost({ warmPoolSize: 0 })
  endWatch = host.agent.watch()
  // The first boot shows which size is asked for.
  await host.agent.docks.getForCommand(newUuid()).start(startCommand())
  await host.clock.advanceInSteps(2_000)
})
afterEach(() => {
  endWatch()
  return host.remove()
})

const blanks = () => [...host.driver.blanks.keys()]

test('a Dock of the usual size gets the network of a blank, another Dock its own', async () => {
  const [one] = blanks()
  await host.agent.docks.getForCommand(newUuid()).start(startCommand())
  await host.agent.docks.getForCommand(newUuid()).start(startCommand({ memoryMiB: 1024 }))
  const [, used, other] = host.driver.started
  expect(used?.netnsPath).toBe(one)
  expect(other?.netnsPath).not.toBe(blanks()[0])
  expect(blanks()).not.toContain(one)
  await host.clock.advanceInSteps(2_000)
  expect(blanks()).toHaveLength(2)
})

test('a Dock starts without the blank if it does not start with it', async () => {
  const dockId = newUuid()
  host.driver.failNext('start', new Error('no disk arrived'), { dockId })
  await host.agent.docks.getForCommand(dockId).start(startCommand())
  expect(host.driver.isAlive(dockId)).toBe(true)
  expect(host.driver.started.at(-1)?.dockId).toBe(dockId)
})

test('a boot that fails before the sandbox starts removes its blank', async () => {
  const before = blanks()
  const dockId = newUuid()
  host.disks.failNext('create', new Error('the disk is full'))
  await expect(host.agent.docks.getForCommand(dockId).start(startCommand())).rejects.toThrow(
    'the disk is full',
  )
  await host.clock.advanceInSteps(100)
  expect(blanks()).toHaveLength(2)
  expect(blanks()).not.toContain(before[0])
  expect(await host.networks.list()).toHaveLength(1)
})

test('a shutdown removes every blank', async () => {
  await host.agent.shutdown()
  expect(blanks()).toEqual([])
})
