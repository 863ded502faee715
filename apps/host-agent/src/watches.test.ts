import { createMemoryHost } from '@dock/testkit/src/host-agent/memory-host.ts'
import { afterEach, expect, test, vi } from 'vitest'

const readMemory = vi.hoisted(() => vi.fn(() => ({ availableBytes: 9, totalBytes: 10 })))
vi.mock('./host-facts.ts', async (original) => ({ ...(await original()), readMemory }))

const host = await createMemoryHost()
afterEach(() => host.remove())

test('while nobody can tell how much memory is left, the warm pool makes room', async () => {
  const { warmPool } = host.agent
  const endWatch = host.agent.watch()
  warmPool.keep({ image: 'debian-13', cpus: 1, memoryMiB: 512, diskGiB: 2 })
  await expect.poll(() => warmPool.reports()).toHaveLength(2)
  readMemory.mockImplementation(() => {
    throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
  })
  await host.clock.advanceInSteps(10_000)
  expect(warmPool.reports()).toEqual([])
  endWatch()
})
