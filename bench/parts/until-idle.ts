/** Waits until this machine is idle, so that earlier work does not affect the next measurement. */
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'

const lookEveryMs = 500
const idleShareMin = 0.9
const giveUpMs = 300_000
const tickMs = 10

/** Returns the total idle time: the fourth number in the first line of /proc/stat. */
const idleMs = async (): Promise<number> =>
  Number((await readFile('/proc/stat', 'utf8')).split(/\s+/, 5)[4]) * tickMs

/**
 * Resolves with true when the processors were idle for at least this share of `lookMs`, or with false after `withinMs`.
 * Time that the hypervisor takes for other machines does not count as idle.
 */
export async function waitForIdle(wanted: {
  shareMin: number
  lookMs: number
  withinMs: number
}): Promise<boolean> {
  const { shareMin, lookMs, withinMs } = wanted
  const deadline = performance.now() + withinMs
  for (let before = await idleMs(), since = performance.now(); performance.now() < deadline; ) {
    await delay(lookMs)
    const [now, at] = [await idleMs(), performance.now()]
    if ((now - before) / ((at - since) * availableParallelism()) >= shareMin) return true
    before = now
    since = at
  }
  return false
}

/**
 * Resolves when the processors were at least 90 % idle for half a second. Throws after five minutes: on a slow machine,
 * Docks' Snapshots are still being copied for minutes after a measurement.
 */
export async function untilIdle(): Promise<void> {
  if (!(await waitForIdle({ shareMin: idleShareMin, lookMs: lookEveryMs, withinMs: giveUpMs })))
    throw new Error('this machine did not become idle: stop the other programs that use its processors')
}
