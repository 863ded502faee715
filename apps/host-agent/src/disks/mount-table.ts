/** The mounts in a mount namespace. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/** `filesystem` is its `major:minor`. `device` is the kernel's name of the block device (`loop7`) if the source is one. */
export type Mounted = { filesystem: string; device: string; type: string }

const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

const parseMountTable = (text: string): Map<string, Mounted> => {
  const table = new Map<string, Mounted>()
  for (const line of text.split('\n')) {
    const [left, right] = line.split(' - ')
    const [, , filesystem, , path] = left?.split(' ') ?? []
    const [type, source] = right?.split(' ') ?? []
    if (!filesystem || !path || !type || !source) continue
    const device = unescapeOctal(source).replace(/^\/dev\//, '')
    table.set(unescapeOctal(path), { filesystem, device, type })
  }
  return table
}

/** Reads a process's /proc/<pid>/mountinfo, by default this process's. Returns the mounts by mount point. */
export async function readMountTable(pid = 'self'): Promise<Map<string, Mounted>> {
  return parseMountTable(await readFile(`/proc/${pid}/mountinfo`, 'utf8'))
}

/** Synchronous variant of {@link readMountTable} for this process. */
export function readMountTableNow(): Map<string, Mounted> {
  return parseMountTable(readFileSync('/proc/self/mountinfo', 'utf8'))
}
