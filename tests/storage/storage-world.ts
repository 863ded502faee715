/**
 * A system without sandboxes for proofs about disks and copies: real control plane, database, link, agent, pool and
 * store. Control plane and agent are processes that can be killed.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Dock } from '@dock/contract'
import { parseCopyKeys } from '@dock/copy-format'
import { startPostgres } from '@dock/embedded-postgres'
import { createLogger, systemClock } from '@dock/foundation'
import { createClient, DockApiError } from '@dock/sdk'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { type DatabaseConnection, openDatabase } from '../../apps/control-plane/src/database/database.ts'
import { createEnrolment } from '../../apps/control-plane/src/modules/hosts/index.ts'
import type { CopyContext } from '../../apps/control-plane/src/modules/storage/copies/copy-context.ts'
import { defaultCopySettings } from '../../apps/control-plane/src/modules/storage/copies/copy-settings.ts'
import { findVerifiedCopy } from '../../apps/control-plane/src/modules/storage/copies/copy-store.ts'
import { restoreCopy } from '../../apps/control-plane/src/modules/storage/copies/restore-copy.ts'
import { openObjectStore } from '../../apps/control-plane/src/object-store/index.ts'
import { sealedColumns } from '../../apps/control-plane/src/sealed-columns.ts'
import { createSealer, ensureKeyRing } from '../../apps/control-plane/src/sealing/index.ts'
import { fillDisk } from '../../apps/host-agent/src/disks/copies/restore-capture.ts'
import { createDiskPool } from '../../apps/host-agent/src/disks/disk-pool.ts'
import type { DiskPool } from '../../apps/host-agent/src/disks/pool.ts'
import { preparePool } from '../../apps/host-agent/src/disks/prepare-pool.ts'
import { createFaultFolder, type FaultFolder } from '../crash/fault-folder.ts'
import type { Admin, Client } from '../e2e/support/server.ts'
import { type DiskHost, removePools, startDiskHost } from './disk-host.ts'
import { type KeptProcess, keepProcess } from './kept-process.ts'

const run = promisify(execFile)
const python = join(import.meta.dirname, 'fingerprint.py')
const program = join(import.meta.dirname, '../../apps/control-plane/src/main.ts')

export type StorageWorld = {
  admin: Admin
  client: Client
  faults: FaultFolder
  host: DiskHost
  controlPlane: KeptProcess
  /** The control plane's log. */
  logFile: string
  database: DatabaseConnection
  /** The folder of the object store. */
  objects: string
  /** Restores a Snapshot's copy to a scratch disk and returns its path. Throws if an object is missing or damaged. */
  restoreToScratch(snapshotId: string): Promise<string>
  dropScratch(snapshotId: string): Promise<void>
  end(): Promise<void>
}

/** Fills a mounted disk with files of all kinds. */
export async function fillTree(root: string, seed: number | string): Promise<void> {
  await run('/usr/bin/python3', [python, 'fill', root, String(seed)])
}

/** Returns a hash of everything below `root`: names, content, modes, owners, times, links, xattrs, sizes. */
export async function fingerprint(root: string): Promise<string> {
  const { stdout } = await run('/usr/bin/python3', [python, 'of', root], { maxBuffer: 2 ** 28 })
  if (stdout === '') throw new Error(`${root} is empty`)
  return createHash('sha256').update(stdout).digest('hex')
}

/** Returns the fingerprint of the filesystem on an ext4 disk. */
export async function fingerprintOfDisk(disk: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-look-'))
  try {
    await run('mount', ['-o', 'loop,ro,noload', disk, folder])
    try {
      return await fingerprint(folder)
    } finally {
      await run('umount', [folder])
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

export async function until(
  what: string,
  ask: () => Promise<boolean>,
  timeoutMs = stallTimeoutMs,
): Promise<void> {
  const deadline = Date.now() + timeoutMs
  while (!(await ask().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs / 1000} s until: ${what}`)
    await delay(50)
  }
}

/** Longer than any stall seen on a shared machine. */
const stallTimeoutMs = 240_000
const silent = createLogger('storage-world')
silent.level = 'silent'

/** Returns the context for the control plane's own restore code, with the scratch pool in place of a host. */
const scratchContext = async (
  controlDir: string,
  { db }: DatabaseConnection,
  pool: DiskPool,
): Promise<CopyContext> => {
  const ring = await ensureKeyRing({ secretKeys: undefined, controlDir })
  const restoreCapture: CopyContext['gateway']['restoreCapture'] = ({ captureId }, disk, frames) =>
    pool.restoreCapture(captureId, disk.diskBytes, (file) =>
      fillDisk(file, disk.diskBytes, parseCopyKeys(disk.keys), frames),
    )
  return {
    ...{ db, clock: systemClock, logger: silent, owner: 'scratch', settings: defaultCopySettings },
    gateway: { restoreCapture } as CopyContext['gateway'],
    sealer: createSealer({ db, clock: systemClock, ring, columns: sealedColumns }),
    store: openObjectStore(undefined, join(controlDir, 'objects')),
  }
}

const scratchPool = async (folder: string): Promise<DiskPool> => {
  await mkdir(folder, { recursive: true })
  const poolDir = await preparePool(folder, { sizeBytes: 24 * 2 ** 30 })
  const mountsDir = join(folder, 'mounts')
  const pool = createDiskPool({ poolDir, mountsDir, logger: silent, reserveBytes: 2 ** 20 })
  await pool.recover()
  return pool
}

const startControlPlane = async (
  folder: string,
  databaseUrl: string,
  environment: Record<string, string>,
): Promise<{ controlPlane: KeptProcess; admin: Admin; controlDir: string; logFile: string }> => {
  const controlDir = join(folder, 'control')
  const logFile = join(folder, 'control-plane.log')
  const [port, metricsPort] = [await freePort(), await freePort()]
  const settings = {
    DOCK_CONTROL_DIR: controlDir,
    PORT: String(port),
    DOCK_METRICS_PORT: String(metricsPort),
  }
  const database = { DATABASE_URL: databaseUrl, DEFAULT_IMAGE: 'debian-13' }
  const controlPlane = keepProcess(
    [process.execPath, program],
    { ...environment, ...settings, ...database },
    logFile,
  )
  const url = `http://127.0.0.1:${port}`
  await until('the control plane responds', async () => (await fetch(`${url}/health`)).ok)
  const admin = JSON.parse(await readFile(join(controlDir, 'admin.json'), 'utf8')) as Admin
  return { controlPlane, admin, controlDir, logFile }
}

/** Settings of when copies are made, swept and proven, in seconds. */
export type CopyTimes = Readonly<Record<`DOCK_${string}_SECONDS`, string>>

/** Starts a control plane with one disk host on an empty, migrated database. */
export async function createStorageWorld(databaseUrl: string, copyTimes: CopyTimes): Promise<StorageWorld> {
  const faults = await createFaultFolder()
  const folder = await mkdtemp(join(tmpdir(), 'dock-storage-'))
  const environment = { DOCK_FAULTS: faults.path, ...copyTimes, LOG_LEVEL: 'debug' }
  const { controlPlane, admin, controlDir, logFile } = await startControlPlane(
    folder,
    databaseUrl,
    environment,
  )
  const client = createClient({ baseUrl: admin.baseUrl, apiKey: admin.apiKey, retries: 0 })
  const database = openDatabase({ url: databaseUrl, onIdleError: () => undefined })
  const joinTokenFile = join(folder, 'join-token')
  await writeFile(
    joinTokenFile,
    await createEnrolment({ db: database.db, clock: systemClock }).issueJoinToken(),
  )
  const host = await startDiskHost({
    hostDir: join(folder, 'host'),
    url: admin.baseUrl,
    joinTokenFile,
    image: 'debian-13',
    environment,
  })
  await until('the host is online', async () =>
    (await client.call('listHosts', {})).some(({ state }) => state === 'online'),
  )
  const scratch = join(folder, 'scratch')
  const pool = await scratchPool(scratch)
  const context = await scratchContext(controlDir, database, pool)
  return {
    ...{ admin, client, faults, host, controlPlane, logFile, database },
    objects: join(controlDir, 'objects'),
    restoreToScratch: async (snapshotId) => {
      const copy = await findVerifiedCopy(database.db, snapshotId)
      if (!copy) throw new Error(`Snapshot ${snapshotId} has no verified copy`)
      await restoreCopy(context, copy, 'scratch')
      return pool.captureFile(snapshotId)
    },
    dropScratch: (snapshotId) => pool.removeCapture(snapshotId),
    end: async () => {
      await database.close()
      await controlPlane.end()
      await host.remove()
      await removePools(folder)
      await faults.remove()
    },
  }
}

/** Creates a world with its own PostgreSQL cluster. `end` stops both. */
export async function startStorageProof(
  copyTimes: CopyTimes,
): Promise<{ world: StorageWorld; end(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'dock-proof-'))
  // PostgreSQL runs as another user, who needs access to the subfolders.
  await chmod(folder, 0o755)
  const postgres = await startPostgres({
    dataDir: join(folder, 'pg'),
    socketDir: join(folder, 'run'),
    logPath: join(folder, 'postgres.log'),
  })
  const world = await createStorageWorld(postgres.url, copyTimes)
  return {
    world,
    end: async () => {
      await world.end()
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Creates a Dock with a disk of 1 GiB. Retries while the host or the control plane is unavailable. */
export async function createDiskDock({ client, admin }: StorageWorld, name: string): Promise<Dock> {
  const size = { cpus: 1, memoryMiB: 512, diskGiB: 1 }
  const body = { workspaceId: admin.workspaceId, name, ...size, noEnv: true }
  const deadline = Date.now() + stallTimeoutMs
  for (;;) {
    try {
      return await client.call('createDock', { body })
    } catch (error) {
      const code = error instanceof DockApiError ? error.code : 'no response'
      const isTransient = [
        'no_host_capacity',
        'capacity_exhausted',
        'service_unavailable',
        'no response',
      ].includes(code)
      if (!isTransient || Date.now() > deadline) throw error
      await delay(100)
    }
  }
}
