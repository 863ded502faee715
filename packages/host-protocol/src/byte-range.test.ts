import { expect, it } from 'vitest'
import { parseByteRange, placeByteRange, writeByteRange } from './byte-range.ts'

it.each([
  ['0-99', 1000, { start: 0, end: 100 }],
  ['990-2000', 1000, { start: 990, end: 1000 }],
  ['100-', 1000, { start: 100, end: 1000 }],
  ['-1', 1000, { start: 999, end: 1000 }],
  ['-5000', 1000, { start: 0, end: 1000 }],
  ['1000-', 1000, null],
  ['-0', 1000, null],
  ['0-0', 0, null],
])('%s of %i bytes is %o', (text, size, place) => {
  const range = parseByteRange(text)!
  expect(placeByteRange(range, size)).toEqual(place)
  expect(parseByteRange(writeByteRange(range))).toEqual(range)
})

it.each(['', '-', 'a-b', '5-2', '0-1,3-4', '1', '1-2-3', '99999999999999999-'])('is refused: %s', (text) =>
  expect(parseByteRange(text)).toBeNull(),
)
