/** Loaded before each program of the tests: makes calls slow at random. See slow-calls.ts. */
import files from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { setFakeDelay } from '@dock/testkit/src/fake-delay.ts'
import pg from 'pg'

type Call = (...input: unknown[]) => unknown

const share = Number(process.env.DELAYED_SHARE)
const longestMs = Number(process.env.DELAYED_MS_MAX)
// Tests replace the global one with a clock of their own.
const { setTimeout } = globalThis

const pause = async (): Promise<void> => {
  if (Math.random() < share) await new Promise((resolve) => setTimeout(resolve, Math.random() * longestMs))
}

const delayFiles = (): void => {
  const functions = files as unknown as Record<string, Call>
  const iterating = ['watch', 'glob']
  for (const [name, call] of Object.entries(functions)) {
    if (typeof call !== 'function' || iterating.includes(name)) continue
    functions[name] = async (...input) => {
      await pause()
      return Promise.resolve(call(...input)).finally(pause)
    }
  }
  syncBuiltinESMExports()
}

const delayDatabase = (): void => {
  const client = pg.Client.prototype as unknown as { query: Call }
  const { query } = client
  client.query = function (this: pg.Client, ...input) {
    const result = query.apply(this, input)
    return result instanceof Promise ? result.finally(pause) : result
  }
}

// Vitest's own process runs no tests.
if (!process.argv[1]?.endsWith('vitest.mjs')) {
  delayFiles()
  delayDatabase()
  setFakeDelay(pause)
}
