/** Limits the total memory of all sandboxes, so that enough is always left for the platform. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CgroupMount, cgroupPathOf } from './sandbox-cgroup.ts'

/** Returns the limited group. Throws if the group cannot be created or limited; the sandboxes are then unlimited. */
export function limitAllSandboxes(
  mounts: readonly CgroupMount[],
  bytes: number,
): { version: 1 | 2; folder: string } {
  const one = mounts.find(({ version, controllers }) => version === 1 && controllers.includes('memory'))
  const mount = one ?? mounts.find(({ version }) => version === 2)
  if (!mount) throw new Error('no cgroup hierarchy with the memory controller is mounted')
  const folder = join(mount.path, dirname(cgroupPathOf('any')))
  if (!one) writeFileSync(join(mount.path, 'cgroup.subtree_control'), '+memory')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, one ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes))
  return { version: one ? 1 : 2, folder }
}
