/** Finds the mount namespaces in which something of this host may be mounted. */
import { readdir, readFile, readlink } from 'node:fs/promises'
import { runCommand } from '@dock/foundation'
import { type Mounted, parseMountTable, readMountTable } from './mount-table.ts'

/**
 * `path` names the namespace for `mount --namespace`. `read` returns no mounts once the namespace is gone, and `exists`
 * returns false if `path` no longer leads to it.
 */
export type MountNamespace = {
  path: string
  read(): Promise<Map<string, Mounted>>
  exists(): Promise<boolean>
}

/**
 * Returns this process's namespace first, then each namespace that another process is in or that an ancestor holds open:
 * the namespace in which the server was started may have no process left.
 */
export async function findMountNamespaces(): Promise<[own: MountNamespace, ...others: MountNamespace[]]> {
  const ownPath = `/proc/${process.pid}/ns/mnt`
  const own = { path: ownPath, read: () => readMountTable(), exists: async () => true }
  const others: MountNamespace[] = []
  const known = new Set([await readlink(ownPath)])
  const add = async (path: string, read: MountNamespace['read']): Promise<void> => {
    const id = await readlink(path).catch(() => '')
    if (!id.startsWith('mnt:') || known.has(id)) return
    known.add(id)
    const exists = async () => (await readlink(path).catch(() => '')) === id
    others.push({ path, read: () => read().catch(() => new Map()), exists })
  }
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)))
    await add(`/proc/${pid}/ns/mnt`, () => readMountTable(pid))
  for (const pid of await ancestors()) {
    for (const descriptor of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      const path = `/proc/${pid}/fd/${descriptor}`
      await add(path, async () =>
        parseMountTable(await runCommand('nsenter', [`--mount=${path}`, 'cat', '/proc/self/mountinfo'])),
      )
    }
  }
  return [own, ...others]
}

const ancestors = async (): Promise<string[]> => {
  const found: string[] = []
  for (let pid = String(process.ppid); Number(pid) > 0; ) {
    found.push(pid)
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    pid = /^PPid:\s+(\d+)$/m.exec(status)?.[1] ?? '0'
  }
  return found
}
