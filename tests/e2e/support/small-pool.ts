/** A data folder with a small disk pool that a test can fill. */
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { newDataDir } from './server.ts'

const run = promisify(execFile)

/** Creates a pool before the server's first start, which keeps it. It must have room for a Dock of default size. */
export async function newSmallPool(gibibytes: number): Promise<string> {
  const dataDir = await newDataDir()
  const host = join(dataDir, 'host')
  await mkdir(host, { recursive: true, mode: 0o700 })
  await run('truncate', ['-s', `${gibibytes}G`, join(host, 'pool.img')])
  await run('mkfs.btrfs', ['-q', join(host, 'pool.img')])
  return dataDir
}

/** Returns the pid of the agent that uses the data folder. The pool is mounted only in the agent's namespace. */
const agentProcess = async (dataDir: string): Promise<string> => {
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const line = await readFile(`/proc/${entry}/cmdline`, 'utf8').catch(() => '')
    if (!line.includes('/host-agent.mjs') || !line.split('\0')[0]?.endsWith('node')) continue
    const environment = await readFile(`/proc/${entry}/environ`, 'utf8').catch(() => '')
    if (environment.includes(`DOCK_HOST_DIR=${dataDir}/`)) return entry
  }
  throw new Error(`no agent serves ${dataDir}`)
}

const poolOf = async (dataDir: string): Promise<string> =>
  `/proc/${await agentProcess(dataDir)}/root${dataDir}/host/pool`

/** Returns the free bytes of the pool. */
export async function freeInPool(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(await poolOf(dataDir))
  return bavail * bsize
}

/** Allocates space in the pool, without writing it, until `bytes` are left. */
export async function leaveInPool(dataDir: string, bytes: number): Promise<void> {
  const length = (await freeInPool(dataDir)) - bytes
  await run('fallocate', ['-l', String(Math.floor(length)), join(await poolOf(dataDir), 'ballast')])
}

/** Returns the number of errors that the kernel has counted on Docks' filesystems. */
export async function filesystemErrors(): Promise<number> {
  let errors = 0
  for (const device of await readdir('/sys/fs/ext4')) {
    if (!device.startsWith('loop')) continue
    errors += Number(await readFile(`/sys/fs/ext4/${device}/errors_count`, 'utf8').catch(() => 0))
  }
  return errors
}
