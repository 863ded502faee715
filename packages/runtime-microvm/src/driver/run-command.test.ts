import { createLogger } from '@dock/foundation'
import type { ExecRequest } from '@dock/runtime'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { types } from '../link/protocol.ts'
import { words } from '../link/testing/fake-guest.ts'
import { GuestSession } from './guest-session.ts'
import { runCommand } from './run-command.ts'
import { fakeMachine } from './testing/fake-machine.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const logger = createLogger('test', { write: () => undefined })
const request: ExecRequest = {
  ...{ argv: ['true'], env: {}, cwd: '/', uid: 0, gid: 0 },
  ...{ timeoutMs: 2_000, outputLimitBytes: 1_024 },
}

/** A command that the guest was asked to start. It says nothing until the test does. */
const scene = async (wanted: Partial<ExecRequest> = {}) => {
  const { machine, guest } = fakeMachine()
  const running = runCommand(new GuestSession(machine, logger), { ...request, ...wanted }, new Set())
  await vi.advanceTimersByTimeAsync(0)
  const { channel } = guest.last(types.open)
  const heardOf = () => guest.heard.filter((frame) => frame.channel === channel).map(({ type }) => type)
  return { running, guest, channel, heardOf }
}

test('the timeout counts although the guest does not start the command, and one that starts later is killed', async () => {
  const { running, guest, channel, heardOf } = await scene()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(await running).toMatchObject({ exitCode: 137, timedOut: true })
  guest.say(types.opened, 0, channel, words(77))
  await vi.advanceTimersByTimeAsync(0)
  // Once because it does not start, and once because it did.
  expect(heardOf()).toEqual([types.open, types.signal, types.signal, types.close])
})

test('a caller that leaves need not wait for the start of the command', async () => {
  const caller = new AbortController()
  const { running } = await scene({ signal: caller.signal })
  caller.abort()
  expect(await running).toMatchObject({ exitCode: 137, timedOut: false })
})
