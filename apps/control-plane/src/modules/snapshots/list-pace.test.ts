import { limits } from '@dock/contract'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { expect, it } from 'vitest'
import { createListPace } from './list-pace.ts'

const { listBytesAtOnce, listBytesPerSecond } = limits.snapshotReadings

/** Sends a list in pieces and returns the seconds that it takes. */
const secondsOf = async (parties: { userId: string; organizationId: string }[], bytes: number) => {
  const clock = createVirtualClock()
  const began = clock.now().getTime()
  const pace = createListPace(clock)
  let left = parties.length
  let seconds = 0
  for (const party of parties) {
    void (async () => {
      for (let sent = 0; sent < bytes; sent += 2 ** 20) await pace(party, 2 ** 20)
      left -= 1
      seconds = (clock.now().getTime() - began) / 1000
    })()
  }
  for (let step = 0; step < 10_000 && left > 0; step++) await clock.advanceInSteps(100)
  return seconds
}

it('sends an ordinary list at once, and a long one at a moderate rate', async () => {
  const party = { userId: 'user', organizationId: 'organization' }
  expect(await secondsOf([party], listBytesAtOnce)).toBeLessThan(1)
  const longer = await secondsOf([party], listBytesAtOnce + 20 * listBytesPerSecond)
  expect(longer).toBeCloseTo(20, 0)
})

it.each([
  ['person', (turn: number) => ({ userId: 'one', organizationId: `${turn}` })],
  ['organization', (turn: number) => ({ userId: `${turn}`, organizationId: 'one' })],
])('gives several lists of one %s no more than one list', async (_, partyOf) => {
  const seconds = await secondsOf([0, 1].map(partyOf), listBytesAtOnce)
  expect(seconds).toBeCloseTo(listBytesAtOnce / listBytesPerSecond, 0)
  const others = [0, 1].map((turn) => ({ userId: `u${turn}`, organizationId: `o${turn}` }))
  expect(await secondsOf(others, listBytesAtOnce)).toBeLessThan(1)
})

it('saves nothing up: after a pause a party may send one list at once, not more', async () => {
  const clock = createVirtualClock()
  const pace = createListPace(clock)
  const party = { userId: 'user', organizationId: 'organization' }
  await pace(party, 1)
  await clock.advanceInSteps(3_600_000)
  await pace(party, listBytesAtOnce)
  let isSent = false
  void pace(party, 10 * listBytesPerSecond).then(() => {
    isSent = true
  })
  await clock.advanceInSteps(9_000)
  expect(isSent).toBe(false)
  await clock.advanceInSteps(1_500)
  expect(isSent).toBe(true)
})
