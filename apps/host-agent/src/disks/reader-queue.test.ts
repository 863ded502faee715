import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { expect, test } from 'vitest'
import { QueueFull, ReaderQueue } from './reader-queue.ts'

test('lets callers above the limit wait, and refuses them if too many wait or the wait is too long', async () => {
  const clock = createVirtualClock()
  const queue = new ReaderQueue({ atOnce: 2, waitingMax: 2, waitMs: 1_000 }, clock)
  const [first] = await Promise.all([queue.take(), queue.take()])
  const third = queue.take()
  const fourth = queue.take()
  await expect(queue.take()).rejects.toThrow(QueueFull)
  first?.()
  first?.()
  const endThird = await third
  const refused = expect(fourth).rejects.toThrow(QueueFull)
  await clock.advanceInSteps(1_001)
  await refused
  endThird()
  expect(await queue.take()).toBeTypeOf('function')
})
