import { expect, it } from 'vitest'
import { readTotalCalls } from './system-calls.ts'

const head = '% time     seconds  usecs/call     calls    errors syscall\n'

it.each([
  [
    'with errors',
    `${head} 60.00    0.000900           1       800        12 read\n100.00    0.001500           1      1215        12 total\n`,
    1215,
  ],
  ['without errors', `${head}100.00    0.001500           1        96           total\n`, 96],
])('reads the total of a table %s', (_, summary, calls) => {
  expect(readTotalCalls(summary)).toBe(calls)
})

it('refuses a table without a total', () => {
  expect(() => readTotalCalls(head)).toThrow('strace printed no total')
})
