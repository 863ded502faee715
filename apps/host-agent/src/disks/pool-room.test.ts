/** On a real btrfs pool in a loop file. Needs root and a kernel with btrfs. */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, open, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createPoolRoom } from './pool-room.ts'
import { preparePool } from './prepare-pool.ts'

const mebibyte = 2 ** 20
const reserveBytes = 16 * mebibyte
const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' })
let host: string
let poolDir: string

beforeEach(async () => {
  host = await mkdtemp(join(tmpdir(), 'dock-room-'))
  poolDir = await preparePool(host, { sizeBytes: 2 ** 30 })
})

afterEach(async () => {
  run('umount', poolDir)
  await rm(host, { recursive: true })
})

it('counts data that was just written, before btrfs has committed it', async () => {
  const room = createPoolRoom(poolDir, reserveBytes)
  const before = room().freeBytes
  const file = await open(join(poolDir, 'file'), 'w')
  try {
    for (let at = 0; at < 200; at++) await file.write(Buffer.alloc(mebibyte, at), 0, mebibyte, at * mebibyte)
    expect(before - room().freeBytes).toBeGreaterThanOrEqual(200 * mebibyte)
  } finally {
    await file.close()
  }
})

it('opens the files of the kernel once, and again after the pool was mounted again', async () => {
  const opened = async (): Promise<number> => (await readdir('/proc/self/fd')).length
  const room = createPoolRoom(poolDir, reserveBytes)
  const { freeBytes } = room()
  const before = await opened()
  for (let look = 0; look < 100; look++) room()
  expect(await opened()).toBe(before)
  run('umount', poolDir)
  await preparePool(host, { sizeBytes: 2 ** 30 })
  for (let look = 0; look < 100; look++) expect(Math.abs(room().freeBytes - freeBytes)).toBeLessThan(mebibyte)
  expect(await opened()).toBe(before)
})

it('has no room if metadata has none, however much is free for data', async () => {
  const room = createPoolRoom(poolDir, reserveBytes)
  expect(room().freeBytes).toBeGreaterThan(300 * mebibyte)
  const ballast: string[] = []
  const take = (): boolean => {
    const file = join(poolDir, `ballast${ballast.length}`)
    ballast.push(file)
    return spawnSync('fallocate', ['-l', '16M', file]).status === 0
  }
  while (take());
  // Every chunk is now allocated to data, and stays so while part of it is used.
  for (const [at, file] of ballast.entries()) if (at % 2 === 0) await rm(file)
  run('btrfs', 'filesystem', 'sync', poolDir)
  const { bavail, bsize } = await statfs(poolDir)
  expect(bavail * bsize).toBeGreaterThan(300 * mebibyte)
  expect(room().freeBytes).toBeLessThan(reserveBytes)
})
