/** Restores and images that do not fit into a real btrfs pool. Needs root and a kernel with btrfs. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@dock/foundation'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { createDiskPool } from './disk-pool.ts'
import { type DiskPool, NoSpace } from './pool.ts'
import { preparePool } from './prepare-pool.ts'
import type { FillDisk } from './write-new-disk.ts'

/** Long, because other tests on this machine make mount namespaces, which hold a copy of a mounted disk until they end. */
const releaseDeadlineMs = 60_000

const mebibyte = 2 ** 20
const chunkBytes = 4 * mebibyte
const diskBytes = 512 * mebibyte
const roomBytes = 64 * mebibyte
const logger = createLogger('fill-pool-test')
const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' })
let host: string
let poolDir: string
/** A pool with `roomBytes` of free space above the limit. */
let pool: DiskPool
let freeBytes: number

const newPool = (reserveBytes: number) =>
  createDiskPool({ poolDir, mountsDir: join(host, 'mounts'), logger, reserveBytes, releaseDeadlineMs })

const filling =
  (bytes: number): FillDisk =>
  async (disk) => {
    for (let at = 0; at < bytes; at += chunkBytes) await disk.write(Buffer.alloc(chunkBytes, 1), at)
  }

const roomIsBack = () =>
  vi.waitUntil(
    () => {
      // The kernel frees a subvolume's space some time after its removal.
      run('btrfs', 'filesystem', 'sync', poolDir)
      return pool.room().freeBytes > freeBytes - chunkBytes
    },
    { timeout: 60_000 },
  )

beforeAll(async () => {
  host = await mkdtemp(join(tmpdir(), 'dock-fill-'))
  poolDir = await preparePool(host, { sizeBytes: 2 ** 30 })
  await newPool(mebibyte).recover()
  run('btrfs', 'filesystem', 'sync', poolDir)
})

beforeEach(() => {
  freeBytes = newPool(mebibyte).room().freeBytes
  pool = newPool((freeBytes - roomBytes) / 2)
})

afterAll(async () => {
  run('umount', poolDir)
  await rm(host, { recursive: true })
})

it('stops a restore at twice the reserve, and frees the space it used', async () => {
  await expect(pool.restoreCapture('a', diskBytes, filling(2 * roomBytes))).rejects.toThrow(NoSpace)
  expect(await readdir(join(poolDir, 'captures'))).toEqual([])
  await roomIsBack()
})

it('stops parallel restores that fit alone but not together', async () => {
  const least: number[] = []
  const watched: FillDisk = (disk) =>
    filling(0.75 * roomBytes)({
      write: async (content, at) => {
        await disk.write(content, at)
        least.push(pool.room().freeBytes)
      },
    })
  const ends = await Promise.allSettled(['a', 'b'].map((id) => pool.restoreCapture(id, diskBytes, watched)))
  expect(ends.map(({ status }) => status)).toContain('rejected')
  expect(Math.min(...least)).toBeGreaterThan(2 * pool.room().reserveBytes - 3 * chunkBytes)
  for (const id of (await pool.list()).captures) await pool.removeCapture(id)
  expect(await readdir(join(poolDir, 'captures'))).toEqual([])
  await roomIsBack()
})

it('stops an image that does not fit, and keeps the former version', async () => {
  const small = join(host, 'small.raw')
  run('mkfs.ext4', '-q', '-F', '-b', '4096', '-O', '^has_journal', small, `${chunkBytes / 1024}K`)
  const disk = await readFile(small)
  await pool.receiveImage('debian', {
    digest: 'sha256:1',
    diskBytes: chunkBytes,
    fill: (into) => into.write(disk, 0),
  })
  const later = { digest: 'sha256:2', diskBytes, fill: filling(2 * roomBytes) }
  await expect(pool.receiveImage('debian', later)).rejects.toThrow(NoSpace)
  expect(await readdir(join(poolDir, 'images'))).toEqual(['debian'])
  expect((await pool.images()).get('debian')).toBe('sha256:1')
  freeBytes -= chunkBytes
  await roomIsBack()
})
