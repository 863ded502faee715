import { expect, it } from 'vitest'
import { visibleLines, visibleName } from './visible-text.ts'

it('writes controls, marks of direction and bytes in names so that they are seen', () => {
  expect(visibleName('a\nb\u001b[2J')).toBe('a␊b␛[2J')
  expect(visibleName('exe\u202etxt')).toBe('exe\\u{202e}txt')
  expect(visibleName('a\udcff')).toBe('a\\xff')
  expect(visibleName('ü 😀 日本')).toBe('ü 😀 日本')
})

it('keeps lines and tabs, and cuts long lines', () => {
  expect(visibleLines('a\tb\r\nc\u0007')).toBe('a\tb\nc␇')
  expect(visibleLines('x'.repeat(2_010))).toBe(`${'x'.repeat(2_000)} … (10 more characters)`)
})
