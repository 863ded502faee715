/** Identifies a process on this machine. The start time distinguishes it from a later process with the same pid. */
import { readdirSync, readFileSync } from 'node:fs'

export type HostProcess = { pid: number; startTime: string }

/** Returns the start time in clock ticks, or undefined if the process is gone or a zombie. */
const startTimeOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name is in parentheses and may itself contain parentheses and spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

/** Returns the running process with this pid, or undefined if there is none. */
export function hostProcess(pid: number): HostProcess | undefined {
  const startTime = startTimeOf(pid)
  return startTime === undefined ? undefined : { pid, startTime }
}

export function isAlive(process: HostProcess): boolean {
  return startTimeOf(process.pid) === process.startTime
}

/** Returns the running processes that have this text in an argument. */
export function processesWithArgument(text: string): HostProcess[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) ? (hostProcess(pid) ?? []) : []
    } catch {
      return []
    }
  })
}
