import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createFolderStore } from './folder-store.ts'
import { describeObjectStore } from './object-store-suite.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'objects-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describeObjectStore('folder', async () => createFolderStore(join(folder, 'objects')))

it('is closed to other users and leaves nothing half written', async () => {
  const store = createFolderStore(join(folder, 'closed'))
  await store.put('a/b', Buffer.from('x'))
  expect((await stat(join(folder, 'closed'))).mode & 0o777).toBe(0o700)
  expect((await stat(join(folder, 'closed/a/b'))).mode & 0o777).toBe(0o600)
  expect(await readdir(join(folder, 'closed/a'))).toEqual(['b'])
})

it('takes away what a process left half written that died, and not what one is writing', async () => {
  const store = createFolderStore(join(folder, 'left'))
  await store.put('a/b', Buffer.from('x'))
  for (const name of ['.new-dead', '.new-alive']) await writeFile(join(folder, 'left/a', name), 'half')
  const longAgo = Date.now() / 1000 - 120
  await utimes(join(folder, 'left/a/.new-dead'), longAgo, longAgo)
  expect((await Array.fromAsync(store.list(''))).map(({ key }) => key)).toEqual(['a/b'])
  expect((await readdir(join(folder, 'left/a'))).sort()).toEqual(['.new-alive', 'b'])
})
