import { expect, it, vi } from 'vitest'
import { dayRange } from './day-range.ts'

it('begins and ends a day in the zone of the person, also if its clock changes', () => {
  vi.stubEnv('TZ', 'Europe/Berlin')
  expect(dayRange('2026-11-30', '2026-11-30')).toEqual({
    since: '2026-11-29T23:00:00.000Z',
    until: '2026-11-30T23:00:00.000Z',
  })
  expect(dayRange('2026-10-25', '2026-10-25')).toEqual({
    since: '2026-10-24T22:00:00.000Z',
    until: '2026-10-25T23:00:00.000Z',
  })
})

it('has no end that was not chosen', () => {
  expect(dayRange(undefined, undefined)).toEqual({ since: undefined, until: undefined })
})
