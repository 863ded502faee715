import { readFile } from 'node:fs/promises'

/** Clock ticks per second, the same on every Linux that Node runs on. */
const ticks = 100

/** Returns the seconds of processor time that a process and its threads have taken so far. */
export async function cpuSecondsOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const [user = 0, system = 0] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number)
  return (user + system) / ticks
}
