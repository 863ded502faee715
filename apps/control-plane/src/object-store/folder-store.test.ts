import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
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
