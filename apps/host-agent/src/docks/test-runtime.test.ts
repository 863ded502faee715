import { newUuid } from '@dock/foundation'
import { createMemoryHost, startCommand } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, expect, test } from 'vitest'

const wanted = { image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 2 }
const nothing = { sandboxes: [], networks: [], disks: [], attached: [] }
let host: Awaited<ReturnType<typeof createMemoryHost>>
afterEach(() => host.remove())

const isLeftEmpty = async (): Promise<void> => {
  expect(await host.residue()).toEqual(nothing)
  expect(host.agent.docks.listWarmSandboxes()).toEqual([])
  expect(host.agent.docks.reports()).toEqual([])
}

test('a test of the runtime measures a sandbox and leaves no sandbox, network or disk', async () => {
  host = await createMemoryHost()
  expect(await host.agent.docks.testRuntime(wanted)).toEqual({
    bootMs: expect.any(Number),
    execMs: expect.any(Number),
    thawMs: expect.any(Number),
  })
  expect(host.driver.started).toMatchObject([{ cpus: 1, memoryMiB: 512, generation: 0 }])
  await isLeftEmpty()
})

test('a test that fails says why and leaves nothing', async () => {
  host = await createMemoryHost()
  for (const call of ['start', 'exec', 'execEnd', 'freeze', 'thaw'] as const) {
    host.driver.failNext(call, new Error(`no ${call}`))
    await expect(host.agent.docks.testRuntime(wanted)).rejects.toThrow(`no ${call}`)
    await isLeftEmpty()
  }
  await expect(host.agent.docks.testRuntime({ ...wanted, image: 'none' })).rejects.toThrow()
  await isLeftEmpty()
})

test('tests of a host do not overlap, and Docks start meanwhile', async () => {
  host = await createMemoryHost()
  const release = host.driver.hold('start')
  const first = host.agent.docks.testRuntime(wanted)
  await expect.poll(async () => (await host.residue()).disks.length).toBe(1)
  await expect(host.agent.docks.testRuntime(wanted)).rejects.toMatchObject({ code: 'busy' })
  release()
  await host.agent.docks.getForCommand(newUuid()).start(startCommand())
  await first
  await host.agent.docks.testRuntime(wanted)
  expect((await host.residue()).sandboxes).toHaveLength(1)
})

test('a runtime that cannot freeze has no time of a thaw', async () => {
  host = await createMemoryHost({ isBare: true })
  expect(await host.agent.docks.testRuntime(wanted)).toMatchObject({ thawMs: null })
  await isLeftEmpty()
})

test('an agent that dies in a test leaves nothing to the next one', async () => {
  host = await createMemoryHost()
  host.driver.hold('execEnd')
  void host.agent.docks.testRuntime(wanted).catch(() => undefined)
  await expect.poll(() => host.driver.executed.length).toBe(1)
  const next = await host.startAgent()
  const end = next.watch()
  next.warmPool.keep(null)
  await expect.poll(() => host.residue()).toEqual(nothing)
  end()
})
