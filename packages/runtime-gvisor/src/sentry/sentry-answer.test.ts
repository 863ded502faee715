import { expect, test } from 'vitest'
import { WholeAnswer } from './sentry-answer.ts'

/** A process list as the sentry encodes it: Go's JSON encoder turns each `<` into six bytes. */
const listOf = (count: number): Buffer => {
  const name = '\\u003c'.repeat(15)
  const one = `{"uid":1000,"pid":16000,"ppid":16000,"threads":[16000],"c":0,"tty":"?","stime":"04:50","time":"10ms","cmd":"${name}"}`
  return Buffer.from(`{"success":true,"err":"","result":[${Array(count).fill(one).join()}]}`)
}

test('the longest possible process list is read', () => {
  const reader = new WholeAnswer()
  expect(reader.feed(listOf(16_384))).toBe('closed')
  expect(reader.answer().result).toHaveLength(16_384)
})

test('an answer over the limit is reported as long', () => {
  expect(new WholeAnswer().feed(listOf(32_768))).toBe('long')
})
