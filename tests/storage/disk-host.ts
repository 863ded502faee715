/**
 * A host with real disks and fake sandboxes: a folder with a pool, and a disk-agent.ts that is restarted when it ends.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLogger } from '@dock/foundation'
import { diskBytesOf } from '@dock/host-protocol'
import { openDiskSystem } from '../../apps/host-agent/src/disks/open-disk-system.ts'
import { preparePool } from '../../apps/host-agent/src/disks/prepare-pool.ts'
import { type KeptProcess, keepProcess } from './kept-process.ts'

const run = promisify(execFile)
const program = join(import.meta.dirname, 'disk-agent.ts')
/** Shell functions of the agent's launcher. */
const pinFile = join(import.meta.dirname, '../../apps/host-agent/pin.sh')
const poolBytes = 24 * 2 ** 30

export type DiskHost = KeptProcess & {
  poolDir: string
  /** Returns the mount point of a running Dock's disk. */
  mountOf(dockId: string): string
  logFile: string
  /** Stops the agent and unmounts its pool. */
  remove(): Promise<void>
}

const quiet = createLogger('disk-host')
quiet.level = 'silent'

/** Creates a pool in `hostDir` that contains one small image. */
const preparePoolWithImage = async (hostDir: string, image: string): Promise<string> => {
  const poolDir = await preparePool(hostDir, { sizeBytes: poolBytes })
  const folder = join(poolDir, 'images', image)
  await mkdir(join(poolDir, 'images'), { recursive: true })
  await (await openDiskSystem(quiet)).createSubvolume(folder)
  const disk = join(folder, 'disk.raw')
  await writeFile(disk, '')
  await run('chattr', ['+C', disk])
  await run('truncate', ['-s', String(diskBytesOf(1)), disk])
  await run('mkfs.ext4', ['-q', '-F', '-m', '0', '-J', 'size=8', disk])
  return poolDir
}

/** Lazily unmounts everything below the folder, and removes the folder. */
export async function removePools(folder: string): Promise<void> {
  const points = (await readFile('/proc/mounts', 'utf8')).split('\n').flatMap((line) => {
    const point = line.split(' ')[1] ?? ''
    return point.startsWith(`${folder}/`) ? [point] : []
  })
  for (const point of points.reverse()) await run('umount', ['-l', point])
  await rm(folder, { recursive: true, force: true })
}

/** Starts a process that keeps a mount namespace open. Mounts in it end with the process and are not propagated. */
const holdNamespace = async (hostDir: string): Promise<ChildProcess & { pid: number }> => {
  const script = '. "$PIN"; release_foreign_disks; echo ready; exec sleep infinity'
  const holder = spawn('unshare', ['--mount', '--', 'bash', '-euc', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DOCK_HOST_DIR: hostDir, PIN: pinFile },
  })
  await once(holder.stdout, 'data')
  return holder as ChildProcess & { pid: number }
}

/** Starts a host and joins it to the control plane at `url`. `environment` is added to the agent's environment. */
export async function startDiskHost(options: {
  hostDir: string
  url: string
  joinTokenFile: string
  image: string
  environment: Record<string, string>
}): Promise<DiskHost> {
  const { hostDir, url, joinTokenFile, image } = options
  await mkdir(hostDir, { recursive: true, mode: 0o700 })
  await run('umount', ['-l', await preparePoolWithImage(hostDir, image)])
  const holder = await holdNamespace(hostDir)
  const seen = `/proc/${holder.pid}/root${hostDir}`
  const logFile = join(hostDir, 'agent.log')
  const places = { DOCK_CONTROL_URL: url, DOCK_HOST_DIR: hostDir, DOCK_JOIN_TOKEN_FILE: joinTokenFile }
  const enter = ['nsenter', `--mount=/proc/${holder.pid}/ns/mnt`, '--', process.execPath, program] as const
  const agent = keepProcess(enter, { ...options.environment, ...places }, logFile)
  return {
    ...agent,
    ...{ poolDir: join(seen, 'pool'), logFile },
    mountOf: (dockId) => join(seen, 'mounts', dockId),
    remove: async () => {
      await agent.end()
      holder.kill('SIGKILL')
      await once(holder, 'exit')
    },
  }
}

/** Lists the ids of the captures in the host's pool. */
export async function capturesIn(host: DiskHost): Promise<string[]> {
  return readdir(join(host.poolDir, 'captures'))
}
