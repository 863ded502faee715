/**
 * A disk pool that the kernel made read-only. btrfs does that if it cannot write its metadata, for example because another
 * program took all space of the disk below the pool. What was not written then is lost. The kernel keeps the pool as it is
 * while any mount namespace has it mounted, and only another mount makes it writable again.
 */
import { accessSync, constants } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runCommand, tryCommand } from '@dock/foundation'
import { type Mounted, readMountTable } from './mount-table.ts'

/** A mount in the namespace of the process `pid`. */
type Mount = { pid: string; path: string; mounted: Mounted }

/** True if the filesystem that contains `folder` takes no writes. */
export function isReadOnly(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

/**
 * Unmounts a pool that takes no writes in every mount namespace, and the disks on it in this one. `device` is the pool's
 * (`loop7`). Returns a process of each other namespace that had it at `poolDir`, to mount it there again. Throws if something
 * still uses the pool after `deadlineMs`.
 */
export async function unmountReadOnlyPool(options: {
  poolDir: string
  mountsDir: string
  device: string
  deadlineMs: number
}): Promise<string[]> {
  const { poolDir, mountsDir, device, deadlineMs } = options
  const pools = (await findMounts()).filter(({ mounted }) => mounted.device === device)
  if (!pools.some(({ mounted }) => mounted.isReadOnly)) return []
  const disks = (await mountsOf('self')).filter(({ path }) => dirname(path) === mountsDir)
  const deadline = performance.now() + deadlineMs
  for (const mount of [...disks, ...pools]) await unmount(mount, deadline)
  return pools.flatMap(({ pid, path }) => (pid !== 'self' && path === poolDir ? [pid] : []))
}

const mountsOf = async (pid: string): Promise<Mount[]> => {
  // The process may have ended.
  const table = await readMountTable(pid).catch(() => new Map<string, Mounted>())
  return [...table].map(([path, mounted]) => ({ pid, path, mounted }))
}

/** Returns the mounts of all mount namespaces that have a process. */
const findMounts = async (): Promise<Mount[]> => {
  const own = await readlink('/proc/self/ns/mnt')
  const pids = new Map([[own, 'self']])
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const namespace = await readlink(`/proc/${pid}/ns/mnt`).catch(() => undefined)
    if (namespace !== undefined && !pids.has(namespace)) pids.set(namespace, pid)
  }
  return (await Promise.all([...pids.values()].map(mountsOf))).flat()
}

/** The kernel releases disks a little later, and an unmount in one namespace may also happen in others. */
const unmount = async ({ pid, path, mounted }: Mount, deadline: number): Promise<void> => {
  const isMounted = async (): Promise<boolean> =>
    (await mountsOf(pid)).some((each) => each.path === path && each.mounted.device === mounted.device)
  // `--namespace` runs this machine's program, not the one that a container has under that name.
  const command = ['umount', ['--namespace', pid === 'self' ? String(process.pid) : pid, path]] as const
  while (await isMounted()) {
    if (performance.now() > deadline) await runCommand(...command)
    else if ((await tryCommand(...command)).code !== 0) await delay(50)
  }
}
