import { afterAll, beforeEach, expect, it } from 'vitest'
import { runDescribed } from './guard-process.ts'
import { logConsole } from './log-console.ts'
import { createLogger } from './logger.ts'

const former = { ...console }
const lines: string[] = []
beforeEach(() => {
  lines.length = 0
  logConsole(createLogger('test', { write: (line) => void lines.push(line) }))
})
afterAll(() => void Object.assign(console, former))

const logged = (): Record<string, unknown>[] => lines.map((line) => JSON.parse(line))

it('an error is one line of the log, with the request that it belongs to', () => {
  runDescribed(
    () => ({ requestId: 'r1' }),
    () => console.error(new Error('the host\nbroke')),
  )
  expect(logged()).toMatchObject([
    { level: 40, requestId: 'r1', err: { message: 'the host\nbroke' }, msg: 'a library reported an error' },
  ])
})

it('text and values are formatted, and chatter is not logged', () => {
  console.warn('%d of %s', 3, 'four', { five: 5 })
  console.info('a caller left')
  expect(logged()).toMatchObject([{ level: 40, msg: '3 of four { five: 5 }' }])
})
