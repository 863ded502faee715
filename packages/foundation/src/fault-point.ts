/**
 * Fault points: lines at which a crash test stops or kills a process, or throws an error. The environment variable
 * `DOCK_FAULTS` names a folder shared by the test and the processes. Without it, a fault point does nothing.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env['DOCK_FAULTS']

/** True if a crash test started this process. */
export const faultsArmed = folder !== undefined

/**
 * Triggers the fault in the file `armed/<name>`, if there is one, and moves the file to `hit/`, so that it triggers
 * once. An empty file stops the process (SIGSTOP), `KILL` kills it (SIGKILL), an error code (`EIO`, `ENOSPC`) is
 * thrown. A number after the word skips that many passes first. If a file `trace` exists, the name of every passed
 * point is appended to it.
 */
export function faultPoint(name: string): void {
  if (folder === undefined) return
  const trace = join(folder, 'trace')
  if (existsSync(trace)) appendFileSync(trace, `${name}\n`)
  const armed = join(folder, 'armed', name)
  let fault: string
  let passes: string | undefined
  try {
    ;[fault = '', passes] = readFileSync(armed, 'utf8').split(' ')
    if (Number(passes ?? 0) > 0) {
      writeFileSync(armed, `${fault} ${Number(passes) - 1}`)
      return
    }
    renameSync(armed, join(folder, 'hit', name))
  } catch {
    return
  }
  if (fault === '') process.kill(process.pid, 'SIGSTOP')
  else if (fault === 'KILL') process.kill(process.pid, 'SIGKILL')
  else throw Object.assign(new Error(`${fault}: injected at fault point ${name}`), { code: fault })
}
