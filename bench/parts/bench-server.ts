/** The product, started as a person does, on a data folder that goes afterwards; and what is read of its machine. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  freePort,
  newDataDir,
  removeDataDir,
  type Server,
  startServer,
} from '../../tests/e2e/support/server.ts'

export type BenchServer = Server & { port: number }

/** What is measured is the machine, not the limits of an organization. */
const withoutLimits = {
  DOCK_LIMIT_DOCKS: '100000',
  DOCK_LIMIT_CPUS: '1000000',
  DOCK_LIMIT_MEMORY_MIB: '1000000000',
  DOCK_LIMIT_DISK_GIB: '100000000',
}

/** Starts a server with these settings for `use`, and ends it. */
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

/** Process id of the program whose command line holds `main` and whose environment holds `mark`. */
export async function processOf(main: string, mark: string): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const line = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')
    if (!line.includes(main) || !line.split('\0')[0]?.endsWith('node')) continue
    const environment = await readFile(`/proc/${entry}/environ`, 'utf8').catch(() => '')
    if (environment.includes(mark)) return Number(entry)
  }
  throw new Error(`no process of ${main}`)
}

export async function residentMiB(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024
}

/** The size that a Dock has whose create names none: what the pool holds. */
export const usualSize = { cpus: 2, memoryMiB: 4096, diskGiB: 20 }

/** Ids of the sandboxes that wait in the pool of a server, frozen. */
export async function pooledSandboxes(server: Server): Promise<string[]> {
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

/** Waits until nothing runs of a Dock that was stopped and its disk is let go: what a stop need not wait for is over then. */
export async function untilGone(server: Server, dockId: string): Promise<void> {
  const stem = `d${dockId.replaceAll('-', '')}g`
  const isThere = (name: string) => name.startsWith(stem) && name.endsWith('.state')
  while ((await readdir(join(server.dataDir, 'host/runsc'))).some(isThere)) await delay(20)
  while (await isAttached(dockId)) await delay(20)
}

/** Whether a loop device holds the Dock's disk: unmounting frees what was kept of it in memory, 200 ms a GiB. */
const isAttached = async (dockId: string): Promise<boolean> => {
  const devices = await readdir('/sys/block')
  const files = await Promise.all(
    devices.map((device) => readFile(`/sys/block/${device}/loop/backing_file`, 'utf8').catch(() => '')),
  )
  return files.some((file) => file.includes(`/docks/${dockId}/`))
}

/** Whether the Dock was one of these sandboxes. */
export function isHit(waiting: readonly string[], dockId: string): boolean {
  return waiting.some((sandbox) => sandbox.startsWith(`d${dockId.replaceAll('-', '')}g`))
}

/** Waits until `count` sandboxes wait in the pool. */
export async function untilPooled(server: Server, count: number): Promise<string[]> {
  for (;;) {
    const waiting = await pooledSandboxes(server)
    if (waiting.length >= count) return waiting
    await delay(100)
  }
}
