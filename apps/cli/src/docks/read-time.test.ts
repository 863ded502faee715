import { expect, it, vi } from 'vitest'
import { UsageError } from '../program/failures.ts'
import { readTime } from './read-time.ts'

const now = Date.parse('2026-11-30T12:00:00Z')

it.each([
  ['7d', '2026-11-23T12:00:00.000Z'],
  ['24h', '2026-11-29T12:00:00.000Z'],
  ['2026-11-30', '2026-11-30T00:00:00.000Z'],
  ['2026-11-30T09:00Z', '2026-11-30T09:00:00.000Z'],
  ['2026-11-30T09:00:05+02:00', '2026-11-30T07:00:05.000Z'],
  ['2026-11-30T09:00', '2026-11-30T09:00:00.000Z'],
])('reads %s', (text, time) => {
  vi.stubEnv('TZ', 'America/New_York')
  expect(readTime('since', text, now)).toBe(time)
})

it.each(['', 'yesterday', '7', '7w', '2026-13-01', '30.11.2026', '1'])('refuses %j', (text) => {
  expect(() => readTime('since', text, now)).toThrow(UsageError)
})
