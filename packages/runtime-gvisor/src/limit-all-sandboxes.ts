/** One limit for the memory of all sandboxes together, so that the platform beside them always has its own. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CgroupMount, cgroupPathOf } from './sandbox-cgroup.ts'

/**
 * Returns the group that is limited. Throws where it cannot be made or limited; the sandboxes then have what the machine
 * has.
 */
export function limitAllSandboxes(
  mounts: readonly CgroupMount[],
  bytes: number,
): { version: 1 | 2; folder: string } {
  const one = mounts.find(({ version, controllers }) => version === 1 && controllers.includes('memory'))
  const mount = one ?? mounts.find(({ version }) => version === 2)
  if (!mount) throw new Error('no control group for memory is mounted here')
  const folder = join(mount.path, dirname(cgroupPathOf('any')))
  if (!one) writeFileSync(join(mount.path, 'cgroup.subtree_control'), '+memory')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, one ? 'memory.limit_in_bytes' : 'memory.max'), String(bytes))
  return { version: one ? 1 : 2, folder }
}
