import { createLogger } from '@dock/foundation'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { calls, types } from '../link/protocol.ts'
import { words } from '../link/testing/fake-guest.ts'
import { GuestSession } from './guest-session.ts'
import { fakeMachine } from './testing/fake-machine.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const logger = createLogger('test', { write: () => undefined })

/** A session whose guest answers calls when the test says so. */
const scene = async () => {
  const { machine, guest, orders } = fakeMachine()
  const session = new GuestSession(machine, logger)
  const asked = () => guest.heard.filter(({ type }) => type === types.call)
  const turn = () => vi.advanceTimersByTimeAsync(0)
  /** Says yes to the calls that the guest was asked and has not replied to. */
  let answered = 0
  const answerAll = async () => {
    for (; answered < asked().length; answered += 1)
      guest.say(types.reply, 0, asked()[answered]!.channel, words(0))
    await turn()
  }
  return { session, orders, turn, answerAll, asked: () => asked().map(({ stream }) => stream) }
}

test('a freeze writes what the guest has in memory, stops its disk, and then pauses the machine', async () => {
  const { session, orders, turn, answerAll, asked } = await scene()
  const freezing = session.freeze()
  await turn()
  expect([asked(), orders]).toEqual([[calls.sync], []])
  await answerAll()
  expect([asked(), orders]).toEqual([[calls.sync, calls.freeze], []])
  await answerAll()
  expect(await freezing).toBe(true)
  expect(orders).toEqual(['pause'])
  const thawing = session.thaw()
  await turn()
  await answerAll()
  await thawing
  expect(asked().slice(2).sort()).toEqual([calls.clock, calls.thaw].sort())
  expect(orders).toEqual(['pause', 'resume'])
})

test('a guest that answers too late is paused as it is, and its disk is not stopped later', async () => {
  const { session, orders, turn, answerAll, asked } = await scene()
  const freezing = session.freeze()
  await turn()
  await vi.advanceTimersByTimeAsync(5_000)
  expect(await freezing).toBe(false)
  expect(orders).toEqual(['pause'])
  // The guest goes on, and replies to what it was asked before.
  const thawing = session.thaw()
  await turn()
  await answerAll()
  await answerAll()
  await thawing
  expect(asked()).not.toContain(calls.freeze)
})

test('a guest that never answers holds up no thaw, and no question for longer than half a minute', async () => {
  const { session, orders } = await scene()
  const thawing = session.thaw()
  await vi.advanceTimersByTimeAsync(5_000)
  await thawing
  expect(orders).toEqual(['resume'])
  const asking = session.ask((link) => link.processes()).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(30_000)
  expect(await asking).toMatchObject({ name: 'GuestSilent' })
})

test('a question waits while the machine is paused', async () => {
  const { session, turn, answerAll } = await scene()
  const freezing = session.freeze()
  await vi.advanceTimersByTimeAsync(5_000)
  await freezing
  const asking = session.ask((link) => link.ping())
  await vi.advanceTimersByTimeAsync(100_000)
  const thawing = session.thaw()
  await turn()
  await answerAll()
  await Promise.all([thawing, asking])
})

test('a guest that violates the protocol loses its machine', async () => {
  const { machine, guest, orders } = fakeMachine()
  const session = new GuestSession(machine, logger)
  const asking = session.ask((link) => link.ping()).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(0)
  guest.say(types.reply, 0, 77, words(0))
  await session.ended
  expect(orders).toEqual(['kill'])
  expect(await asking).toMatchObject({ name: 'SandboxGone' })
})
