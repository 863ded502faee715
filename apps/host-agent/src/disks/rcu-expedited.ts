/**
 * Freezing a filesystem waits for read-copy-update grace periods: about 40 ms, or 6 ms when the kernel is told to
 * hurry. The switch is one for the whole machine, so its users are counted and it is off when there is none.
 */
import { writeFile } from 'node:fs/promises'

const switchPath = '/sys/kernel/rcu_expedited'
let users = 0

const set = async (value: '0' | '1'): Promise<void> => {
  try {
    await writeFile(switchPath, value)
  } catch {
    // A kernel without the switch only freezes more slowly.
  }
}

/** Runs `work` with short grace periods. */
export const withRcuExpedited = async <T>(work: () => Promise<T>): Promise<T> => {
  users++
  if (users === 1) await set('1')
  try {
    return await work()
  } finally {
    users--
    if (users === 0) await set('0')
  }
}

/** Turns the switch off after a process died with it on. */
export const resetRcuExpedited = async (): Promise<void> => {
  if (users === 0) await set('0')
}
