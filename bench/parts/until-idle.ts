/** Waits until this machine has nothing left to do of what came before, so that the next figure is its own. */
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

const lookEveryMs = 500
const idleShareMin = 0.9
const giveUpMs = 60_000
const tickMs = 10

/** The fourth figure of /proc/stat's first line. */
const idleMs = async (): Promise<number> =>
  Number((await readFile('/proc/stat', 'utf8')).split(/\s+/, 5)[4]) * tickMs

/** Resolves when the processors were idle for nine tenths of half a second. Throws after a minute. */
export async function untilIdle(): Promise<void> {
  const deadline = performance.now() + giveUpMs
  for (let before = await idleMs(); performance.now() < deadline; ) {
    await delay(lookEveryMs)
    const now = await idleMs()
    if ((now - before) / (lookEveryMs * availableParallelism()) >= idleShareMin) return
    before = now
  }
  throw new Error('this machine does not come to rest: something else runs on it')
}
