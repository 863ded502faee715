import { expect, it } from 'vitest'
import { attemptsMax, decideFailure } from './outcome.ts'

const now = new Date('2026-01-01T00:00:00Z')
const reply = (responseCode: number, command: string): Error =>
  Object.assign(new Error('no'), { responseCode, command })

it.each([
  [reply(550, 'RCPT TO'), 'refused'],
  [reply(554, 'DATA'), 'refused'],
  [reply(451, 'RCPT TO'), 'retry'],
  [reply(452, 'DATA'), 'retry'],
  [reply(421, 'RCPT TO'), 'retry'],
  // About the instance's settings, not about this mail.
  [reply(535, 'AUTH PLAIN'), 'retry'],
  [reply(550, 'MAIL FROM'), 'retry'],
  [reply(554, 'CONN'), 'retry'],
  [new Error('connect ECONNREFUSED'), 'retry'],
])('%o is %s', (error, kind) => {
  expect(decideFailure(error, 1, now).kind).toBe(kind)
})

it('doubles the pauses from 30 seconds to an hour, and gives up after the 25th attempt', () => {
  const pauseOf = (attempts: number): unknown => {
    const outcome = decideFailure(new Error('no'), attempts, now)
    return outcome.kind === 'retry' ? (outcome.at.getTime() - now.getTime()) / 1_000 : outcome.kind
  }
  expect([1, 2, 3, 8, 24].map(pauseOf)).toEqual([30, 60, 120, 3_600, 3_600])
  expect(pauseOf(attemptsMax)).toBe('failed')
})
