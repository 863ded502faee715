/**
 * A disk pool that the kernel made read-only. btrfs does that if it cannot write its metadata, for example because another
 * program took all space of the disk below the pool. What was not written then is lost, and only another mount makes the
 * pool writable again.
 */
import { accessSync, constants } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runCommand, tryCommand } from '@dock/foundation'
import { readMountTable } from './mount-table.ts'

/** True if the pool is mounted and takes no writes. */
export function isReadOnlyPool(poolDir: string): boolean {
  try {
    accessSync(poolDir, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

/**
 * Unmounts a pool that takes no writes, and the disks on it. The next mount makes it writable. Throws if something still
 * uses it after `deadlineMs`.
 */
export async function unmountReadOnlyPool(options: {
  poolDir: string
  mountsDir: string
  deadlineMs: number
}): Promise<void> {
  const { poolDir, mountsDir, deadlineMs } = options
  if (!isReadOnlyPool(poolDir)) return
  const mounts = [...(await readMountTable())]
  const disks = mounts.filter(([path]) => dirname(path) === mountsDir)
  const broken = [...disks, ...mounts.filter(([path]) => path === poolDir)]
  const begin = performance.now()
  for (const pid of await findNamespaces()) {
    for (const [path, { filesystem }] of broken) {
      // In another container, something else may be mounted at this path.
      const isMounted = async () =>
        (await readMountTable(pid).catch(() => undefined))?.get(path)?.filesystem === filesystem
      // The kernel releases disks a little later, and so do namespaces of sandboxes that are ending.
      while (await isMounted()) await unmount(pid, path, performance.now() - begin > deadlineMs)
    }
  }
}

/**
 * Returns a process of each mount namespace. The kernel keeps the pool as it is while any namespace has it mounted. This
 * process's namespace comes last, so that an agent that is killed meanwhile leaves work that the next one recognizes.
 */
const findNamespaces = async (): Promise<string[]> => {
  const byNamespace = new Map<string, string>()
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const namespace = await readlink(`/proc/${pid}/ns/mnt`).catch(() => undefined)
    if (namespace !== undefined && !byNamespace.has(namespace)) byNamespace.set(namespace, pid)
  }
  const own = await readlink('/proc/self/ns/mnt')
  byNamespace.delete(own)
  return [...byNamespace.values(), 'self']
}

/** Unmounts `path` in the namespace of the process, and throws if it `mustWork` and fails. */
const unmount = async (pid: string, path: string, mustWork: boolean): Promise<void> => {
  const command = ['nsenter', [`--mount=/proc/${pid}/ns/mnt`, 'umount', path]] as const
  if (mustWork) await runCommand(...command)
  else if ((await tryCommand(...command)).code !== 0) await delay(50)
}
