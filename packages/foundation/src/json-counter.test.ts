import { expect, it } from 'vitest'
import { createJsonCounter } from './json-counter.ts'

const texts: [text: string, count: number][] = [
  ['', 0],
  ['1', 0],
  ['[[],[],[]]', 6],
  ['{"a":1,"b":{"c":[]}}', 4],
  ['{"a,[{":"[[[,,,{{{"}', 1],
  ['["\\",[",1]', 2],
  ['["\\\\",1,"\\\\\\",",2]', 4],
  ['["ä,", "\u{1f600}{", ","]', 3],
  ['["never closed, [', 1],
  ['["\\', 1],
]
it.each(texts)('counts %s', (text, count) => {
  expect(createJsonCounter()(Buffer.from(text))).toBe(count)
})

it.each(texts)('counts %s in pieces of any length', (text, count) => {
  const bytes = Buffer.from(text)
  for (let length = 1; length <= bytes.length; length += 1) {
    const counter = createJsonCounter()
    let counted = 0
    for (let start = 0; start < bytes.length; start += length)
      counted = counter(bytes.subarray(start, start + length))
    expect([length, counted]).toEqual([length, count])
  }
})
