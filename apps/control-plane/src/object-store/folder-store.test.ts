import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describeObjectStore } from '@dock/testkit/src/object-store-suite.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createFolderStore } from './folder-store.ts'
import { StoreFull } from './object-store.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'objects-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describeObjectStore('folder', async () => createFolderStore(join(folder, 'objects')))

it('denies access to other users and leaves no temporary files', async () => {
  const store = createFolderStore(join(folder, 'closed'))
  await store.put('a/b', Buffer.from('x'))
  expect((await stat(join(folder, 'closed'))).mode & 0o777).toBe(0o700)
  expect((await stat(join(folder, 'closed/a/b'))).mode & 0o777).toBe(0o600)
  expect(await readdir(join(folder, 'closed/a'))).toEqual(['b'])
})

it('removes abandoned temporary files, but not one that is being written', async () => {
  const store = createFolderStore(join(folder, 'left'))
  await store.put('a/b', Buffer.from('x'))
  for (const name of ['.new-dead', '.new-alive']) await writeFile(join(folder, 'left/a', name), 'half')
  const longAgo = Date.now() / 1000 - 120
  await utimes(join(folder, 'left/a/.new-dead'), longAgo, longAgo)
  expect((await Array.fromAsync(store.list(''))).map(({ key }) => key)).toEqual(['a/b'])
  expect((await readdir(join(folder, 'left/a'))).sort()).toEqual(['.new-alive', 'b'])
})

const run = promisify(execFile)
const mib = 2 ** 20

/** A separate disk of `size` MiB. */
const withDisk = async (name: string, size: number, use: (path: string) => Promise<void>): Promise<void> => {
  const path = join(folder, name)
  await mkdir(path)
  await run('mount', ['-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', path])
  try {
    await use(path)
  } finally {
    await run('umount', [path])
  }
}

it('refuses writes that would use the reserve, and accepts writes again once there is room', () =>
  withDisk('reserved', 8, async (disk) => {
    const store = createFolderStore(join(disk, 'objects'), 4 * mib)
    await store.requireRoom()
    await store.put('a/1', Buffer.alloc(3 * mib))
    await expect(store.put('a/2', Buffer.alloc(2 * mib))).rejects.toThrow(StoreFull)
    await store.put('a/small', Buffer.from('x'))
    await writeFile(join(disk, 'of-the-database'), Buffer.alloc(mib))
    await expect(store.requireRoom()).rejects.toThrow(StoreFull)
    await expect(store.put('a/smaller', Buffer.from('x'))).rejects.toThrow(StoreFull)
    expect((await readdir(join(disk, 'objects/a'))).sort()).toEqual(['1', 'small'])
    await store.delete('a/1')
    await store.put('a/2', Buffer.alloc(2 * mib))
  }))

it('throws StoreFull if the disk fills up during a write, and leaves no temporary file', () =>
  withDisk('full', 4, async (disk) => {
    const store = createFolderStore(join(disk, 'objects'))
    await store.put('a/1', Buffer.alloc(mib))
    await expect(store.put('a/2', Buffer.alloc(4 * mib))).rejects.toThrow(StoreFull)
    expect(await readdir(join(disk, 'objects/a'))).toEqual(['1'])
    await store.put('a/2', Buffer.alloc(mib))
  }))
