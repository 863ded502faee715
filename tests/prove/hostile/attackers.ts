/** Means of the attackers: programs under another user, in a process's view of the files, and bounded waits. */
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)
export const nobody = 65_534

/** Runs a program as a user without groups. Rejects when it fails. */
export async function runAs(uid: number, program: string, args: readonly string[]): Promise<string> {
  const user = [`--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--']
  return (await run('setpriv', [...user, program, ...args], { maxBuffer: 2 ** 26 })).stdout
}

/** Asks until `holds` does. Returns how long it took in milliseconds, or null when it was too long. */
export async function untilTrue(
  holds: () => Promise<boolean>,
  withinMs: number,
  everyMs = 100,
): Promise<number | null> {
  const begin = performance.now()
  for (;;) {
    if (await holds().catch(() => false)) return Math.round(performance.now() - begin)
    if (performance.now() - begin > withinMs) return null
    await delay(everyMs)
  }
}

/** Rejects after a while, so that an attack that hangs something is told instead of waited for. */
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
