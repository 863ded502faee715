/** The rate limit for connections of a Dock, on a clock that the test controls. */
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { beforeEach, expect, it } from 'vitest'
import { burst, type ConnectionLimiter, createConnectionLimiter, refillMs } from './connection-limiter.ts'

let clock: VirtualClock
let limiter: ConnectionLimiter
let begun: number[]
beforeEach(() => {
  clock = createVirtualClock()
  limiter = createConnectionLimiter(clock)
  begun = []
})
const take = (name: number) => limiter.take(() => begun.push(name))
const takeBurst = (): void => {
  for (let count = 0; count < burst; count++) take(0)
  begun = []
}

it('starts a burst at once, and later connections one by one', async () => {
  takeBurst()
  for (const name of [1, 2, 3]) take(name)
  expect(begun).toEqual([])
  await clock.advanceInSteps(refillMs)
  expect(begun).toEqual([1])
  await clock.advanceInSteps(2 * refillMs)
  expect(begun).toEqual([1, 2, 3])
  take(4)
  expect(begun).toEqual([1, 2, 3])
})

it('refills while nothing waits, up to a burst', async () => {
  takeBurst()
  await clock.advanceInSteps(10 * refillMs)
  for (let count = 0; count < 12; count++) take(1)
  expect(begun).toHaveLength(10)
  await clock.advanceInSteps(10 * burst * refillMs)
  begun = []
  for (let count = 0; count < burst + 5; count++) take(1)
  expect(begun).toHaveLength(burst)
})

it('skips connections that are gone, and starts none once it is closed', async () => {
  takeBurst()
  take(1)()
  take(2)
  await clock.advanceInSteps(refillMs)
  expect(begun).toEqual([2])
  take(3)
  limiter.close()
  await clock.advanceInSteps(10 * refillMs)
  expect(begun).toEqual([2])
})
