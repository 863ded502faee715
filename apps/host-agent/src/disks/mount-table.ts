/** The mounts in a mount namespace. */
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'

/**
 * `device` is the kernel's name of the block device (`loop7`) if the source is one. `isReadOnly`: the filesystem takes no
 * writes, whatever the mount allows.
 */
export type Mounted = { device: string; type: string; isReadOnly: boolean }

const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))

/** Reads the text of a /proc/<pid>/mountinfo. */
export function parseMountTable(text: string): Map<string, Mounted> {
  const table = new Map<string, Mounted>()
  for (const line of text.split('\n')) {
    const [left, right] = line.split(' - ')
    const path = left?.split(' ')[4]
    const [type, source, options] = right?.split(' ') ?? []
    if (!path || !type || !source) continue
    const device = unescapeOctal(source).replace(/^\/dev\//, '')
    table.set(unescapeOctal(path), { device, type, isReadOnly: options?.split(',').includes('ro') === true })
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
