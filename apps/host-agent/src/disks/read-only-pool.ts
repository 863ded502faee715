/**
 * A disk pool that the kernel made read-only. btrfs does that if it cannot write its metadata, for example because another
 * program took all space of the disk below the pool. What was not written then is lost. The kernel keeps the pool as it is
 * while any mount namespace has it mounted, and only another mount makes it writable again.
 */
import { accessSync, constants } from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { runCommand, tryCommand } from '@dock/foundation'
import { findMountNamespaces, type MountNamespace } from './mount-namespaces.ts'
import { type Mounted, readMountTable } from './mount-table.ts'

type Mount = { namespace: MountNamespace; path: string; mounted: Mounted }

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
 * Unmounts a pool that takes no writes in every mount namespace, and the disks on it in this one. No sandbox may be left.
 * `device` is the pool's (`loop7`). Returns the other namespaces that had it at `poolDir`, to mount it there again. Throws
 * if something still uses the pool after `deadlineMs`.
 */
export async function unmountReadOnlyPool(options: {
  poolDir: string
  mountsDir: string
  device: string
  deadlineMs: number
}): Promise<MountNamespace[]> {
  const { poolDir, mountsDir, device, deadlineMs } = options
  const isPool = ({ mounted }: Mount): boolean => mounted.device === device && mounted.type === 'btrfs'
  const isHere = (await readMountTable()).has(poolDir)
  if (isHere && !isReadOnly(poolDir)) return []
  const [own, ...others] = await findMountNamespaces()
  const ownMounts = await mountsOf(own)
  const otherMounts = (await Promise.all(others.map(mountsOf))).flat()
  const pools = [...ownMounts, ...otherMounts].filter(isPool)
  // An earlier agent may have got no further than its own namespace.
  if (!isHere && !pools.some(({ mounted }) => mounted.isReadOnly)) return []
  const disks = ownMounts.filter(({ path }) => dirname(path) === mountsDir)
  const deadline = performance.now() + deadlineMs
  for (const mount of [...disks, ...pools]) await unmount(mount, deadline)
  return pools.flatMap(({ namespace, path }) => (namespace !== own && path === poolDir ? [namespace] : []))
}

const mountsOf = async (namespace: MountNamespace): Promise<Mount[]> =>
  [...(await namespace.read())].map(([path, mounted]) => ({ namespace, path, mounted }))

/** The kernel releases disks a little later, and an unmount in one namespace may also happen in others. */
const unmount = async ({ namespace, path, mounted }: Mount, deadline: number): Promise<void> => {
  const isMounted = async () => (await namespace.read()).get(path)?.device === mounted.device
  // This machine's `umount` enters the namespace itself. After `nsenter`, a container's own program would run as root.
  const command = ['umount', ['--namespace', namespace.path, path]] as const
  while (await isMounted()) {
    if (performance.now() > deadline) await runCommand(...command)
    else if ((await tryCommand(...command)).code !== 0) await delay(50)
  }
}
