import { expect, it } from 'vitest'
import { pageOfLines } from './page-of-lines.ts'

it('returns the lines that fit, without half a line', () => {
  expect(pageOfLines(['one', 'two', 'three'], 9)).toEqual({ text: 'one\ntwo', count: 2 })
  expect(pageOfLines([], 9)).toEqual({ text: '', count: 0 })
})

it('clips a line that fits on no page, so that a reader gets behind it', () => {
  expect(pageOfLines(['x'.repeat(20), 'two'], 9)).toEqual({ text: 'xxxxxxxxx', count: 1 })
  expect(pageOfLines(['one', 'x'.repeat(20)], 9)).toEqual({ text: 'one', count: 1 })
})
