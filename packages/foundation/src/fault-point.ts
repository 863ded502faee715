/**
 * Places where a crash test stops a process, to kill it or another one at that very line. Armed by the environment
 * variable `DOCK_FAULTS` alone, which names a folder that the test and the processes share; without it a place is free.
 */
import { appendFileSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env['DOCK_FAULTS']

/** Whether this process was started by a crash test. */
export const faultsArmed = folder !== undefined

/**
 * Stops the process (SIGSTOP) if the test has put a file of this name into `armed/`; the file moves to `hit/`, so that
 * each is hit once. While a file `trace` is there, every place that is passed is appended to it.
 */
export const faultPoint = (name: string): void => {
  if (folder === undefined) return
  const trace = join(folder, 'trace')
  if (existsSync(trace)) appendFileSync(trace, `${name}\n`)
  try {
    renameSync(join(folder, 'armed', name), join(folder, 'hit', name))
  } catch {
    return
  }
  process.kill(process.pid, 'SIGSTOP')
}
