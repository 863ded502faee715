/** Helpers of the attacks: programs run as another user, and waits with a timeout. */
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const nobody = 65_534

/** Runs a program as a user without groups and returns its output. Rejects if it fails. */
export async function runAs(uid: number, program: string, args: readonly string[]): Promise<string> {
  const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--']
  return (await run('setpriv', [...user, program, ...args], { maxBuffer: 2 ** 26 })).stdout
}

/** Polls until `holds` returns true. Returns the elapsed milliseconds, or null after `withinMs`. */
export async function untilTrue(
  holds: () => Promise<boolean>,
  withinMs: number,
  everyMs = 100,
  onError: (error: unknown) => void = () => undefined,
): Promise<number | null> {
  const begin = performance.now()
  for (;;) {
    const isTrue = await holds().catch((error: unknown) => {
      onError(error)
      return false
    })
    if (isTrue) return Math.round(performance.now() - begin)
    if (performance.now() - begin > withinMs) return null
    await delay(everyMs)
  }
}

/** Rejects after `ms`, so that an attack that makes something hang is reported. */
export async function within<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  const end = new AbortController()
  try {
    return await Promise.race([
      work,
      delay(ms, undefined, { signal: end.signal }).then(() =>
        Promise.reject(new Error(`${what}: over ${ms} ms`)),
      ),
    ])
  } finally {
    end.abort()
  }
}
