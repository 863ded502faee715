import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { describe, expect, it } from 'vitest'
import { keepRunning } from './keep-running.ts'
import type { Running } from './running.ts'

/** A fake process that the test ends. */
const startable = () => {
  const runs: { end: (code: number) => void; stops: number }[] = []
  const start = async (): Promise<Running> => {
    const ending = Promise.withResolvers<number | null>()
    const run = { end: ending.resolve, stops: 0 }
    runs.push(run)
    return {
      pid: 100 + runs.length,
      ended: ending.promise,
      stop: async () => {
        run.stops += 1
        ending.resolve(0)
      },
    }
  }
  return { runs, start }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('keepRunning', () => {
  it('restarts a process that ended with growing delays, and at once after a long run', async () => {
    const clock = createVirtualClock()
    const { runs, start } = startable()
    const kept = await keepRunning('agent', start, clock, () => undefined)
    const endAndRestart = async (): Promise<number> => {
      runs.at(-1)!.end(1)
      await settle()
      const [delayMs = 0] = clock.pending()
      await clock.advanceInSteps(delayMs)
      return delayMs
    }
    expect([await endAndRestart(), await endAndRestart(), await endAndRestart()]).toEqual([200, 400, 800])
    expect(kept.failures()).toBe(3)
    expect(kept.pid()).toBe(104)
    await clock.advanceInSteps(6_000)
    expect(await endAndRestart()).toBe(200)
    await clock.advanceInSteps(61_000)
    expect([await endAndRestart(), await endAndRestart(), await endAndRestart()]).toEqual([0, 400, 800])
  })

  it('starts nothing after stop', async () => {
    const clock = createVirtualClock()
    const { runs, start } = startable()
    const kept = await keepRunning('agent', start, clock, () => undefined)
    await kept.stop()
    await settle()
    expect(runs).toHaveLength(1)
    expect(runs[0]!.stops).toBe(1)
    expect(clock.pending()).toEqual([])
  })

  it('does not restart a process that ended just before stop', async () => {
    const clock = createVirtualClock()
    const { runs, start } = startable()
    const kept = await keepRunning('agent', start, clock, () => undefined)
    runs[0]!.end(1)
    await settle()
    await kept.stop()
    await clock.advanceInSteps(60_000)
    expect(runs).toHaveLength(1)
  })
})
