/** The format of a copy's file index, and what its entries cost. */
import { newCopyKeys, sealPart } from '@dock/copy-format'
import { createLogger, newUuid } from '@dock/foundation'
import { expect, it } from 'vitest'
import { ObjectMissing } from '../../../object-store/index.ts'
import type { CaptureFile } from '../../hosts/index.ts'
import { type CopyContext, indexKey } from './copy-context.ts'
import { readIndex, storeIndex } from './copy-index.ts'

const keys = newCopyKeys()

const copy = { id: newUuid(), organizationId: newUuid(), snapshotId: newUuid() }

const world = (indexBytesMax?: number) => {
  const objects = new Map<string, Buffer>()
  const store = {
    put: async (key: string, bytes: Uint8Array) => void objects.set(key, Buffer.from(bytes)),
    delete: async (key: string) => void objects.delete(key),
    get: async (key: string) => {
      const bytes = objects.get(key)
      if (!bytes) throw new ObjectMissing(key)
      return bytes
    },
  }
  const logger = createLogger('copy-index-test')
  logger.level = 'silent'
  const context = { store, logger, ...(indexBytesMax ? { indexBytesMax } : {}) } as unknown as CopyContext
  return { context, objects }
}

async function* inBatches(files: CaptureFile[]): AsyncGenerator<CaptureFile[]> {
  for (let at = 0; at < files.length; at += 500) yield files.slice(at, at + 500)
}

const fileOf = (path: string, index = 1): CaptureFile => ({ path, size: index * 7, inode: index + 11 })
const readAll = async (context: CopyContext, indexParts: number) =>
  (await Array.fromAsync(readIndex(context, { ...copy, indexParts }, keys))).flat()

it('returns the paths as they were, whatever characters they have', async () => {
  const { context } = world()
  const paths = [
    '/plain',
    '/with space',
    '/é and 😀',
    '/\u0001\u001f"\\',
    '/{"path":"/x"}',
    '/a\nb',
    '/1 2 3',
  ]
  const files = [
    ...paths.map(fileOf),
    ...Array.from({ length: 12_000 }, (_, index) => fileOf(`/${index}`, index)),
  ]
  const parts = await storeIndex(context, copy, keys, inBatches(files))
  expect(parts).toBe(3)
  expect(await readAll(context, parts)).toEqual(files)
})

it('keeps a path that a host sends with half of a surrogate pair, which has no UTF-8', async () => {
  const { context } = world()
  const parts = await storeIndex(context, copy, keys, inBatches([fileOf('/a\ud800b')]))
  expect(await readAll(context, parts)).toEqual([fileOf('/a\ufffdb')])
})

it('leaves out a path with a zero byte, which no file system has', async () => {
  const { context } = world()
  const parts = await storeIndex(context, copy, keys, inBatches([fileOf('/a\0b'), fileOf('/c')]))
  expect(await readAll(context, parts)).toEqual([fileOf('/c')])
})

it('reads the index of an older copy', async () => {
  const { context, objects } = world()
  const files = [fileOf('/etc/hostname'), fileOf('/\u0001')]
  const key = indexKey(copy.organizationId, copy.id, 0)
  objects.set(key, await sealPart(keys, key, files.map((file) => JSON.stringify(file)).join('\n')))
  expect(await readAll(context, 1)).toEqual(files)
})

it('a control character takes one byte, and a list beyond the limit leaves no parts', async () => {
  const path = `/${'\u0001'.repeat(3_999)}`
  const files = Array.from({ length: 2_000 }, (_, index) => fileOf(path, index))
  const whole = world(9_000_000)
  expect(await storeIndex(whole.context, copy, keys, inBatches(files))).toBeGreaterThan(0)
  const { context, objects } = world(7_000_000)
  let taken = 0
  const counted = async function* (): AsyncGenerator<CaptureFile[]> {
    for await (const batch of inBatches([...files, ...files])) {
      taken += batch.length
      yield batch
    }
  }
  expect(await storeIndex(context, copy, keys, counted())).toBe(0)
  expect(objects.size).toBe(0)
  expect(taken).toBe(2_000)
})
