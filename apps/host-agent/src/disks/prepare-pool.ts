/**
 * Creates the pool's file and filesystem if they are missing, and mounts the pool in this process's mount namespace. Used
 * by `script/install/pool` and by the agent at its start. An existing pool is kept unchanged.
 */
import { chmod, mkdir, open, readFile, statfs } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { runCommand, tryCommand } from '@dock/foundation'
import { exists } from './clone-disk.ts'
import type { MountNamespace } from './mount-namespaces.ts'
import { readMountTable } from './mount-table.ts'

const gibibyte = 2 ** 30
const sizeMax = 1024 * gibibyte
/** Twice the default disk of a Dock. A smaller pool would refuse it. */
const sizeMin = 40 * gibibyte
const freeMin = 10 * gibibyte

export type PreparePoolOptions = {
  /** Default `<hostDir>/pool`. */
  poolDir?: string
  /** Other mount namespaces in which the pool is mounted as well. */
  namespaces?: readonly MountNamespace[]
  /** Size of a new pool. Default: {@link defaultPoolSize}. */
  sizeBytes?: number
}

/**
 * Returns the size of a new pool on a disk with this much free space: 80 % of it, from 40 GiB to 1 TiB. The pool's file is
 * sparse, so the pool can be larger than the free space: what the agent reports as free is limited by both. Returns null if
 * less than 10 GiB are free.
 */
export function defaultPoolSize(freeBytes: number): number | null {
  if (freeBytes < freeMin) return null
  const share = Math.floor((freeBytes * 0.8) / gibibyte) * gibibyte
  return Math.min(Math.max(share, sizeMin), sizeMax)
}

const requireBtrfs = async (): Promise<void> => {
  const known = async () => /\bbtrfs$/m.test(await readFile('/proc/filesystems', 'utf8'))
  if (await known()) return
  await tryCommand('modprobe', ['btrfs']).catch(() => undefined)
  if (!(await known())) throw new Error('this kernel has no btrfs, which the disk pool needs')
}

const makePoolFile = async (file: string, hostDir: string, sizeBytes: number | undefined): Promise<void> => {
  const { bavail, bsize } = await statfs(hostDir)
  const wanted = sizeBytes ?? defaultPoolSize(bavail * bsize)
  if (wanted === null) {
    throw new Error(`${hostDir} has too little free space for the disk pool: at least 10 GiB are needed`)
  }
  const half = `${file}.new`
  const handle = await open(half, 'w', 0o600)
  // Avoids a second level of copy-on-write if the file itself is on btrfs. Fails on other filesystems.
  await tryCommand('chattr', ['+C', half]).catch(() => undefined)
  await handle.truncate(wanted)
  await handle.close()
  await runCommand('mkfs.btrfs', ['-q', '-f', half])
  await runCommand('mv', ['-T', half, file])
}

/** Returns the path of the file that contains the pool. */
export function poolFile(hostDir: string): string {
  return join(hostDir, 'pool.img')
}

/** Returns the loop device of the pool's file (`/dev/loop7`), or undefined if it has none. */
export async function poolDevice(file: string): Promise<string | undefined> {
  const devices = await runCommand('losetup', ['-n', '-O', 'NAME', '-j', file])
  return devices.trim().split('\n')[0]?.trim() || undefined
}

/** Attaches the file, or returns its existing device: a second device for the same file would destroy the filesystem. */
const attachPoolFile = async (file: string): Promise<string> =>
  (await poolDevice(file)) ?? (await runCommand('losetup', ['-f', '--show', '--direct-io=on', file])).trim()

/** Returns the pool's mount point. Throws an error that says what is wrong with the machine. */
export async function preparePool(hostDir: string, options: PreparePoolOptions = {}): Promise<string> {
  const poolDir = resolve(options.poolDir ?? join(hostDir, 'pool'))
  await mkdir(poolDir, { recursive: true, mode: 0o700 })
  if ((await readMountTable()).has(poolDir)) return poolDir
  await requireBtrfs()
  const file = poolFile(resolve(hostDir))
  if (!(await exists(file))) await makePoolFile(file, hostDir, options.sizeBytes)
  const device = await attachPoolFile(file)
  try {
    const mount = ['-t', 'btrfs', '-o', 'nosuid,nodev,noatime,discard=async', device, poolDir]
    for (const namespace of options.namespaces ?? []) {
      if ((await namespace.read()).has(poolDir)) continue
      await runCommand('mount', ['--namespace', namespace.path, ...mount]).catch(async (error) => {
        // A namespace ends with its last process, at any moment.
        if (await namespace.exists()) throw error
      })
    }
    // A mount in another namespace may also appear in this one.
    if (!(await readMountTable()).has(poolDir)) await runCommand('mount', mount)
  } finally {
    // The device is mounted now, so this only marks it for removal after the last unmount.
    await runCommand('losetup', ['-d', device])
  }
  await chmod(poolDir, 0o700)
  return poolDir
}

if (import.meta.main) {
  const hostDir = process.argv[2]
  try {
    if (!hostDir) throw new Error('usage: script/install/pool HOST_DIR')
    await mkdir(hostDir, { recursive: true, mode: 0o700 })
    process.stderr.write(`pool: mounted at ${await preparePool(hostDir)}\n`)
  } catch (error) {
    process.stderr.write(`pool: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
