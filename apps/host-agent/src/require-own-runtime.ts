/**
 * A host's runtime is that of the disks in its pool (decision 053). The host folder notes it, so that a host whose
 * `DOCK_RUNTIME` was changed does not mount disks that guests' kernels have written.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '@dock/foundation'
import type { RuntimeDriver } from '@dock/runtime'
import { preparePool } from './disks/prepare-pool.ts'

type Name = RuntimeDriver['name']
type Kept = { disks: number; captures: number }

/** Hosts of earlier versions have no note. All of them ran gVisor. */
const unnoted: Name = 'gvisor'

const unlessAbsent =
  <T>(absent: T) =>
  (error: NodeJS.ErrnoException): T | Promise<never> =>
    error.code === 'ENOENT' ? absent : Promise.reject(error)

/** Counts what the pool of a host keeps of Docks. Mounts the pool if it is not mounted. */
export async function listKept(hostFolder: string): Promise<Kept> {
  const pool = await preparePool(hostFolder)
  const count = async (folder: string): Promise<number> =>
    (await readdir(join(pool, folder)).catch(unlessAbsent([]))).length
  return { disks: await count('docks'), captures: await count('captures') }
}

/** Notes the runtime. Throws an error that says what to do if the pool has disks or captures of another one. */
export async function requireOwnRuntime({
  hostFolder,
  runtime,
  listKept,
}: {
  hostFolder: string
  runtime: Name
  listKept: () => Promise<Kept>
}): Promise<void> {
  const file = join(hostFolder, 'runtime')
  const noted = (await readFile(file, 'utf8').catch(unlessAbsent(unnoted))).trim()
  if (noted !== runtime) {
    const { disks, captures } = await listKept()
    if (disks + captures > 0)
      throw new Error(
        `the pool of this host has disks that were made under ${noted} (Docks: ${disks}, Snapshots: ${captures}), and ${runtime} must not boot them. Start it with DOCK_RUNTIME=${noted}, or use another data folder for a new host.`,
      )
  }
  await writeFileDurably(file, `${runtime}\n`)
}
