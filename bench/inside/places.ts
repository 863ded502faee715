/** Where the work of `script/bench inside` runs: on this machine in the image of a Dock, in a Dock, and in podman. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createLogger, runCommand } from '@dock/foundation'
import { createDiskPool } from '../../apps/host-agent/src/disks/disk-pool.ts'
import { preparePool } from '../../apps/host-agent/src/disks/prepare-pool.ts'
import { createDock, deleteDock, run } from '../../tests/e2e/support/dock.ts'
import { newDataDir, removeDataDir } from '../../tests/e2e/support/server.ts'
import { removePools } from '../../tests/storage/disk-host.ts'
import { type BenchServer, imageCache, usualSize } from '../parts/bench-server.ts'
import { isPodmanInstalled, startPodman } from '../parts/podman.ts'

/** Runs a script for bash as the image's user, and returns its output. */
export type Place = { name: string; run(script: string): Promise<string>; close(): Promise<unknown> }

const timeoutSeconds = 600
const poolBytes = 32 * 2 ** 30

export async function openDock(server: BenchServer): Promise<Place> {
  const { id } = await createDock(server, usualSize)
  return {
    name: 'Dock',
    run: (script) => run(server, id, script, { timeoutSeconds }),
    close: () => deleteDock(server, id),
  }
}

/** Attaches a disk of a Dock, with its limits, and runs programs on it directly on this machine's kernel. */
export async function openNative(image: string): Promise<Place> {
  const folder = await newDataDir()
  const close = () => removePools(folder)
  try {
    const poolDir = await preparePool(folder, { sizeBytes: poolBytes })
    const installer = join(import.meta.dirname, '../../script/install/image')
    await runCommand(installer, [image, poolDir], {
      env: { ...process.env, DOCK_IMAGE_CACHE: imageCache() },
    })
    const logger = createLogger('bench-inside')
    logger.level = 'silent'
    const pool = createDiskPool({ poolDir, mountsDir: join(folder, 'mounts'), logger })
    await pool.recover()
    await pool.create('native', { from: { image }, diskGiB: usualSize.diskGiB })
    const { rootPath } = await pool.attach('native')
    return { name: 'native', run: (script) => runIn(rootPath, script), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Runs a script in this root filesystem, with process ids and mounts of its own. */
const runIn = async (root: string, script: string): Promise<string> => {
  const enter = `mount --bind /dev "$0/dev"
    exec chroot --userspec=1000:1000 "$0" /usr/bin/env -i HOME=/home/user PATH=/usr/bin:/bin /bin/bash -lc "$1"`
  const child = spawn(
    'unshare',
    [
      ...['--mount', '--pid', '--fork', `--mount-proc=${join(root, 'proc')}`],
      ...['bash', '-euc', enter, root, script],
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(child, 'close')
  const output = await text(child.stdout)
  const [code] = await ended
  if (code !== 0) throw new Error(`native: exit ${code}:\n${script}\n${output}`)
  return output
}

/** Returns undefined if podman is not installed. */
export async function openPodman(): Promise<Place | undefined> {
  if (!(await isPodmanInstalled())) return undefined
  const folder = await newDataDir()
  const podman = await startPodman(folder)
  const container = await podman.create()
  return {
    name: 'podman',
    run: (script) => podman.exec(container, script),
    close: async () => {
      await podman.remove(container)
      await podman.stop()
      await removeDataDir(folder)
    },
  }
}
