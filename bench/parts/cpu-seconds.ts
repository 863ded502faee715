import { readFile } from 'node:fs/promises'

/** Clock ticks per second, the same on every Linux that Node runs on. */
const ticks = 100

/** Adds the field with this position after the name in /proc/PID/stat and the one after it; both count ticks. */
const secondsAt = async (pid: number, position: number): Promise<number> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[position]) + Number(fields[position + 1])) / ticks
}

/** Returns the seconds of processor time that a process and its threads have taken so far. */
export function cpuSecondsOf(pid: number): Promise<number> {
  return secondsAt(pid, 11)
}

/** Returns the seconds of processor time of the programs that a process has run to their end. */
export function cpuSecondsOfPrograms(pid: number): Promise<number> {
  return secondsAt(pid, 13)
}
