/**
 * Places where a crash test stops a process, to kill it or another one at that very line, or makes the line fail. Armed
 * by the environment variable `DOCK_FAULTS` alone, which names a folder that the test and the processes share; without
 * it a place is free.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env['DOCK_FAULTS']

/** Whether this process was started by a crash test. */
export const faultsArmed = folder !== undefined

/**
 * Does what a file of this name in `armed/` says, which moves to `hit/`, so that each is hit once: nothing stops the
 * process (SIGSTOP), `KILL` ends it (SIGKILL), the name of an error (`EIO`, `ENOSPC`) is thrown as one. A number behind
 * it lets as many pass first. While a file `trace` is there, every place that is passed is appended to it.
 */
export function faultPoint(name: string): void {
  if (folder === undefined) return
  const trace = join(folder, 'trace')
  if (existsSync(trace)) appendFileSync(trace, `${name}\n`)
  const armed = join(folder, 'armed', name)
  let fate: string
  let passes: string | undefined
  try {
    ;[fate = '', passes] = readFileSync(armed, 'utf8').split(' ')
    if (Number(passes ?? 0) > 0) {
      writeFileSync(armed, `${fate} ${Number(passes) - 1}`)
      return
    }
    renameSync(armed, join(folder, 'hit', name))
  } catch {
    return
  }
  if (fate === '') process.kill(process.pid, 'SIGSTOP')
  else if (fate === 'KILL') process.kill(process.pid, 'SIGKILL')
  else throw Object.assign(new Error(`${fate}: made to fail at ${name}`), { code: fate })
}
