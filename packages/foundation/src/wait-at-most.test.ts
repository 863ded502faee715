import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { expect, test } from 'vitest'
import { waitAtMost } from './wait-at-most.ts'

test('returns the result of work that ends in time, and leaves no timer behind', async () => {
  const clock = createVirtualClock()
  expect(await waitAtMost(clock, 1_000, Promise.resolve('done'))).toBe('done')
  expect(clock.pending()).toEqual([])
})

test('returns `late` when the time is over, and ignores how the work ends later', async () => {
  const clock = createVirtualClock()
  const work = Promise.withResolvers<string>()
  const answer = waitAtMost(clock, 1_000, work.promise)
  await clock.advanceInSteps(999)
  expect(clock.pending()).toEqual([1])
  await clock.advanceInSteps(1)
  expect(await answer).toBe('late')
  work.reject(new Error('ended much later'))
})

test('rejects with the error of work that fails in time, and leaves no timer behind', async () => {
  const clock = createVirtualClock()
  await expect(waitAtMost(clock, 1_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(clock.pending()).toEqual([])
})
