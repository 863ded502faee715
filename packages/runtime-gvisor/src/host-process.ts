/** A process of this machine, told from a later one with the same number by its start time. */
import { readFileSync } from 'node:fs'

export type HostProcess = { pid: number; startTime: string }

/** Start time in clock ticks; undefined when the process is gone or a zombie, which is as dead. */
const startTimeOf = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name stands in brackets and may itself hold brackets and spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19]
  } catch {
    return undefined
  }
}

/** The process of this number that runs now; undefined when there is none. */
export function hostProcess(pid: number): HostProcess | undefined {
  const startTime = startTimeOf(pid)
  return startTime === undefined ? undefined : { pid, startTime }
}

export function isAlive(process: HostProcess): boolean {
  return startTimeOf(process.pid) === process.startTime
}
