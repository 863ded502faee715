/** Starts Dock with script/server on a temporary data folder, and reads the state of its processes and sandboxes. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../../tests/e2e/support/server.ts'

export type BenchServer = Server & { port: number }

/** Limits that no benchmark reaches. */
export const withoutLimits = {
  DOCK_LIMIT_DOCKS: '100000',
  DOCK_LIMIT_CPUS: '1000000',
  DOCK_LIMIT_MEMORY_MIB: '1000000000',
  DOCK_LIMIT_DISK_GIB: '100000000',
}

/** Returns the folder of built images that servers and plain containers of benchmarks share. */
export function imageCache(): string {
  return process.env.DOCK_IMAGE_CACHE ?? join(import.meta.dirname, '../../.tools/test/images')
}

/** Starts a server with these settings, runs `use`, and stops the server. */
export async function withServer<T>(
  environment: Record<string, string>,
  use: (server: BenchServer) => Promise<T>,
): Promise<T> {
  const dataDir = await newDataDir()
  const port = await freePort()
  const server = await startServer(dataDir, port, { ...withoutLimits, ...environment })
  try {
    return await use({ ...server, port })
  } finally {
    await server.interrupt()
    await removeDataDir(dataDir)
  }
}

export function print(line: string): boolean {
  return process.stdout.write(`${line}\n`)
}

export async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024
}

/** The default size of a create, which the warm pool holds. */
export const usualSize = { cpus: 2, memoryMiB: 4096, diskGiB: 20 }

/** Lists the frozen sandboxes in the server's warm pool. */
export async function listWarmSandboxes(server: Server): Promise<string[]> {
  const names = await readdir(join(server.dataDir, 'host/runsc'))
  const waiting = names.flatMap((name) => /^(d[0-9a-f]{32}g0{8})_.*\.state$/.exec(name)?.[1] ?? [])
  const states = await Promise.all(
    waiting.map((name) =>
      readFile(`/sys/fs/cgroup/freezer/dock/${name}/freezer.state`, 'utf8').catch(() =>
        readFile(`/sys/fs/cgroup/dock/${name}/cgroup.freeze`, 'utf8').catch(() => ''),
      ),
    ),
  )
  return waiting.filter((_, index) => /FROZEN|^1/.test(states[index] ?? ''))
}

/** Waits until a stopped Dock's sandbox is gone and its disk is detached. A stop responds before that. */
export async function untilGone(server: Server, dockId: string): Promise<void> {
  const stem = `d${dockId.replaceAll('-', '')}g`
  const isThere = (name: string) => name.startsWith(stem) && name.endsWith('.state')
  while ((await readdir(join(server.dataDir, 'host/runsc'))).some(isThere)) await delay(20)
  while (await isAttached(dockId)) await delay(20)
}

/** Returns true if a loop device uses the Dock's disk. Unmounting frees its page cache, which takes 200 ms per GiB. */
const isAttached = async (dockId: string): Promise<boolean> => {
  const devices = await readdir('/sys/block')
  const files = await Promise.all(
    devices.map((device) => readFile(`/sys/block/${device}/loop/backing_file`, 'utf8').catch(() => '')),
  )
  return files.some((file) => file.includes(`/docks/${dockId}/`))
}

/** Returns true if the Dock was made from one of these sandboxes. */
export function isHit(waiting: readonly string[], dockId: string): boolean {
  return waiting.some((sandbox) => sandbox.startsWith(`d${dockId.replaceAll('-', '')}g`))
}

/** Waits until the warm pool has at least `count` sandboxes, and returns them. */
export async function waitForWarmSandboxes(server: Server, count: number): Promise<string[]> {
  for (;;) {
    const waiting = await listWarmSandboxes(server)
    if (waiting.length >= count) return waiting
    await delay(100)
  }
}
