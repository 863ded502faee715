import { createManualClock } from '@dock/testkit/src/host-agent/manual-clock.ts'
import { expect, test } from 'vitest'
import { ReaderTurns, TooManyWait } from './reader-turns.ts'

test('so many at once; who comes after them waits, and is refused when too many do or when it takes too long', async () => {
  const clock = createManualClock()
  const turns = new ReaderTurns({ atOnce: 2, waitingMax: 2, waitMs: 1_000 }, clock)
  const [first] = await Promise.all([turns.take(), turns.take()])
  const third = turns.take()
  const fourth = turns.take()
  await expect(turns.take()).rejects.toThrow(TooManyWait)
  first?.()
  first?.()
  const endThird = await third
  const refused = expect(fourth).rejects.toThrow(TooManyWait)
  await clock.pass(1_001)
  await refused
  endThird()
  expect(await turns.take()).toBeTypeOf('function')
})
