/** The mounts of this process's mount namespace, by mount point. */
import { readFile } from 'node:fs/promises'

/** `device`: the kernel's name of the block device (`loop7`) when the source is one. */
export type Mounted = { device: string; type: string }

const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

/** Reads /proc/self/mountinfo afresh. */
export const readMountTable = async (): Promise<Map<string, Mounted>> => {
  const table = new Map<string, Mounted>()
  for (const line of (await readFile('/proc/self/mountinfo', 'utf8')).split('\n')) {
    const [left, right] = line.split(' - ')
    const path = left?.split(' ')[4]
    const [type, source] = right?.split(' ') ?? []
    if (!path || !type || !source) continue
    table.set(unescapeOctal(path), { device: unescapeOctal(source).replace(/^\/dev\//, ''), type })
  }
  return table
}
