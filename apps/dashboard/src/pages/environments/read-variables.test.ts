import { expect, it } from 'vitest'
import { readVariables } from './read-variables.ts'

it('reads plain and quoted values, also of several lines', () => {
  const text = 'A=1\nB="two words"\nC="first\nsecond=3"\nD="say \\"hi\\" \\\\n and \\r"\nE=\nF=a=b\n'
  expect([...readVariables(text)]).toEqual([
    ['A', '1'],
    ['B', 'two words'],
    ['C', 'first\nsecond=3'],
    ['D', 'say "hi" \\n and \r'],
    ['E', ''],
    ['F', 'a=b'],
  ])
  expect(readVariables('').size).toBe(0)
})
