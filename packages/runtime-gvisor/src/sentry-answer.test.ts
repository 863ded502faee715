import { expect, test } from 'vitest'
import { WholeAnswer } from './sentry-answer.ts'

/** A list as the sentry writes it: Go's JSON makes six bytes of each `<`. */
const listOf = (count: number): Buffer => {
  const name = '\\u003c'.repeat(15)
  const one = `{"uid":1000,"pid":16000,"ppid":16000,"threads":[16000],"c":0,"tty":"?","stime":"04:50","time":"10ms","cmd":"${name}"}`
  return Buffer.from(`{"success":true,"err":"","result":[${Array(count).fill(one).join()}]}`)
}

test('the list of as many processes as a sandbox may have is read, whatever their names', () => {
  const reader = new WholeAnswer()
  expect(reader.feed(listOf(16_384))).toBe('closed')
  expect(reader.answer().result).toHaveLength(16_384)
})

test('an answer longer than any can be is left', () => {
  expect(new WholeAnswer().feed(listOf(32_768))).toBe('long')
})
