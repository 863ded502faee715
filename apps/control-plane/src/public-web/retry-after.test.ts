import { expect, it } from 'vitest'
import { readRetryAfter } from './retry-after.ts'

const now = new Date('2026-01-01T00:00:00.500Z')

it.each([
  ['0', 0],
  ['120', 120],
  ['999999999', 999_999_999],
  ['Thu, 01 Jan 2026 00:01:00 GMT', 60],
  ['Wed, 31 Dec 2025 23:00:00 GMT', 0],
  [undefined, null],
  ['', null],
  ['-1', null],
  ['1.5', null],
  ['1e3', null],
  ['9999999999', null],
  ['120, 60', null],
  ['tomorrow', null],
  ['2026-01-01', null],
  ['Thu, 99 Jan 2026 00:01:00 GMT', null],
])('reads %j as %s', (header, expected) => expect(readRetryAfter(header, now)).toBe(expected))
