import { createLogger } from '@dock/foundation'
import { expect, it } from 'vitest'
import { createTimers } from './timers.ts'

const logger = createLogger('test')
logger.level = 'silent'

/** Timers on a clock that the test moves. */
const startTimers = (everyMs: number, run: () => Promise<void>) => {
  const planned: { delayMs: number; callback: () => void }[] = []
  const clock = {
    now: () => new Date(0),
    after: (delayMs: number, callback: () => void) => {
      planned.push({ delayMs, callback })
      return () => undefined
    },
  }
  const timers = createTimers({ clock, logger, tasks: [{ name: 'task', everyMs, run }] })
  timers.start()
  return { planned, delays: () => planned.map(({ delayMs }) => delayMs), stop: timers.stop }
}

it('runs a task of a day for the first time within minutes, and then once a day', async () => {
  let runs = 0
  const { planned, delays } = startTimers(86_400_000, async () => {
    runs += 1
  })
  planned[0]?.callback()
  await expect.poll(delays).toEqual([300_000, 86_400_000])
  expect(runs).toBe(1)
})

it('does not run a frequent task sooner, and plans it again after a failure', async () => {
  const { planned, delays } = startTimers(5_000, () => Promise.reject(new Error('down')))
  planned[0]?.callback()
  await expect.poll(delays).toEqual([5_000, 5_000])
})

it('plans nothing after the stop', async () => {
  const { planned, delays, stop } = startTimers(5_000, async () => undefined)
  planned[0]?.callback()
  stop()
  await new Promise((resolve) => setImmediate(resolve))
  expect(delays()).toEqual([5_000])
})
