import { expect, it } from 'vitest'
import { exitCodeOfProcess } from './exit-code-of-process.ts'

type Ended = Parameters<typeof exitCodeOfProcess>[0]
const codeOf = (end: Partial<Ended>) =>
  exitCodeOfProcess({ reason: 'exited', exitCode: null, signal: null, ...end } as Ended)

it('is that of the command, or 128 and the number of the signal that ended it', () => {
  expect(codeOf({ exitCode: 3 })).toBe(3)
  expect(codeOf({ reason: 'signaled', signal: 'TERM' })).toBe(143)
})

it('is an error that says what ended the command from outside', () => {
  expect(() => codeOf({ reason: 'out_of_memory' })).toThrow(
    'The Dock ran out of memory, so it ended the command.',
  )
  expect(() => codeOf({ reason: 'timed_out' })).toThrow('--timeout')
})
