/** What libraries print to the console: they know no logger, and a stack trace on several lines is no line of a log. */
import { format } from 'node:util'
import { describeWork } from './guard-process.ts'
import type { Logger } from './logger.ts'

const levels = { error: 'warn', warn: 'warn', info: 'debug', log: 'debug', debug: 'debug' } as const

/** Sends what this process prints to its console to the log from now on. */
export function logConsole(logger: Logger): void {
  for (const [method, level] of Object.entries(levels) as [keyof typeof levels, 'warn' | 'debug'][])
    console[method] = (...printed: unknown[]) => {
      const err = printed.find((each) => each instanceof Error)
      const others = printed.filter((each) => each !== err)
      const text = others.length > 0 ? format(...others) : 'a library reported an error'
      logger[level]({ ...describeWork(), ...(err ? { err } : {}) }, text)
    }
}
