/** On a real btrfs pool: a capture is copied to chunks and restored as another capture, byte for byte. */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChunkDamaged, chunkBytes, newCopyKeys } from '@dock/copy-format'
import { createLogger } from '@dock/foundation'
import { diskBytesOf } from '@dock/host-protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDiskPool } from '../disk-pool.ts'
import { openDiskSystem } from '../open-disk-system.ts'
import type { DiskPool } from '../pool.ts'
import { preparePool } from '../prepare-pool.ts'
import { nameChunks, sealChunks } from './copy-capture.ts'
import { fillDisk } from './restore-capture.ts'

/** Long, because other tests on this machine make mount namespaces, which hold a copy of a mounted disk until they end. */
const releaseDeadlineMs = 60_000

const keys = newCopyKeys()
const pace = { bytesPerSecond: 2 ** 40 }
const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' })
let host: string
let poolDir: string
let pool: DiskPool

const namesOf = async (captureId: string) => {
  const found: { index: number; name: string }[] = []
  for await (const each of nameChunks(await pool.captureFile(captureId), keys, pace)) {
    if ('index' in each) found.push(each)
  }
  return found
}

const restore = async (captureId: string, frames: AsyncIterable<Buffer>, diskBytes = diskBytesOf(1)) =>
  pool.restoreCapture(captureId, diskBytes, (disk) => fillDisk(disk, diskBytes, keys, frames))

beforeAll(async () => {
  const logger = createLogger('copies-test')
  host = await mkdtemp(join(tmpdir(), 'dock-copies-'))
  poolDir = await preparePool(host, { sizeBytes: 3 * 2 ** 30 })
  await mkdir(join(poolDir, 'images'), { recursive: true })
  const system = await openDiskSystem(logger)
  await system.createSubvolume(join(poolDir, 'images', 'small'))
  const disk = join(poolDir, 'images', 'small', 'disk.raw')
  await writeFile(disk, '')
  run('chattr', '+C', disk)
  run('truncate', '-s', String(diskBytesOf(1)), disk)
  run('mkfs.ext4', '-q', '-F', '-m', '0', '-J', 'size=8', disk)
  pool = createDiskPool({
    poolDir,
    mountsDir: join(host, 'mounts'),
    logger,
    reserveBytes: 2 ** 20,
    releaseDeadlineMs,
  })
  await pool.recover()
  await pool.create('a', { from: { image: 'small' }, diskGiB: 1 })
  const { rootPath } = await pool.attach('a')
  await writeFile(join(rootPath, 'random'), randomBytes(30 * 2 ** 20))
  await writeFile(join(rootPath, 'text'), 'line\n'.repeat(100_000))
  await pool.capture('a', 'first')
  await appendFile(join(rootPath, 'text'), 'one line more\n')
  await pool.capture('a', 'second')
})

afterAll(async () => {
  await pool.remove('a')
  for (const id of (await pool.list()).captures) await pool.removeCapture(id)
  run('umount', poolDir)
  await rm(host, { recursive: true })
})

it('restores a capture byte for byte, to a disk that is sparse and mountable', async () => {
  const names = await namesOf('first')
  expect(names.length * chunkBytes).toBeLessThan(200 * 2 ** 20)
  const frames = sealChunks(
    await pool.captureFile('first'),
    keys,
    names.map(({ index }) => index),
    pace,
  )
  const { sizeBytes } = await restore('restored', frames)
  expect(sizeBytes).toBeLessThan(200 * 2 ** 20)
  const after = await pool.captureFile('restored')
  // Fails unless they are equal. The disks are large, and mostly holes.
  run('cmp', await pool.captureFile('first'), after)
  run('e2fsck', '-f', '-n', after)
})

it('awaits yieldToCommands before each chunk, and reads every chunk', async () => {
  const file = await pool.captureFile('first')
  const allowed: (() => void)[] = []
  let isFree = false
  const yieldToCommands = () =>
    isFree ? Promise.resolve() : new Promise<void>((resolve) => allowed.push(resolve))
  const names = nameChunks(file, keys, { ...pace, yieldToCommands })
  expect(await names.next()).toMatchObject({ value: { diskBytes: diskBytesOf(1) } })
  const read: unknown[] = []
  const all = (async () => {
    for await (const each of names) read.push(each)
  })()
  for (const chunk of [1, 2, 3]) {
    await expect.poll(() => allowed.length).toBe(chunk)
    expect(read.length).toBeLessThan(chunk)
    isFree = chunk === 3
    allowed.at(-1)?.()
  }
  await all
  expect(read).toEqual(await namesOf('first'))
})

it('gives new names only to chunks that changed', async () => {
  const first = new Set((await namesOf('first')).map(({ name }) => name))
  const fresh = (await namesOf('second')).filter(({ name }) => !first.has(name))
  expect(fresh.length).toBeGreaterThan(0)
  expect(fresh.length).toBeLessThan(10)
})

it('leaves no disk behind when a copy is damaged or cut short', async () => {
  const names = (await namesOf('first')).map(({ index }) => index)
  const file = await pool.captureFile('first')
  async function* spoilt(): AsyncGenerator<Buffer> {
    let at = 0
    for await (const piece of sealChunks(file, keys, names, pace)) {
      at += 1
      if (at !== 6) yield piece
      else yield Buffer.from(piece.map((byte, position) => (position === 40 ? byte ^ 1 : byte)))
    }
  }
  async function* cut(): AsyncGenerator<Buffer> {
    let at = 0
    for await (const piece of sealChunks(file, keys, names, pace)) {
      if (at++ === 5) return
      yield piece
    }
  }
  await expect(restore('spoilt', spoilt())).rejects.toThrow(ChunkDamaged)
  await expect(restore('cut', cut())).rejects.toThrow(ChunkDamaged)
  expect((await pool.list()).captures.filter((id) => ['spoilt', 'cut'].includes(id))).toEqual([])
})

it('refuses a chunk that lies beyond the end of the disk', async () => {
  const names = (await namesOf('first')).map(({ index }) => index)
  const frames = sealChunks(await pool.captureFile('first'), keys, names, pace)
  await expect(restore('short', frames, 64 * 2 ** 20)).rejects.toThrow(ChunkDamaged)
})
