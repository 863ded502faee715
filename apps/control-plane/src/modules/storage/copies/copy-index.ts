/**
 * The file index of a copy: sealed parts that list the regular files of the disk. An entry is `size inode path`, the path as
 * it is, and ends with a zero byte, which no path contains. Parts of older copies have a line of JSON for each file.
 */
import { type CopyKeys, openPart, sealPart } from '@dock/copy-format'
import type { CaptureFile } from '../../hosts/index.ts'
import { type CopyContext, indexKey } from './copy-context.ts'
import type { Copy, IndexedCopy } from './copy-store.ts'

const filesInPart = 5_000
/** A part with long paths holds fewer files. */
const partBytesMax = 2 ** 21
/** A small disk can hold a list of any length: a path has up to 4,096 bytes, and a file may have 65,000 links. */
const indexBytesMax = 64 * 2 ** 20

const entryOf = ({ path, size, inode }: CaptureFile): string => `${size} ${inode} ${path.toWellFormed()}\0`

/**
 * Stores the list of files in parts, so that a long list is never in memory at once. Returns the number of parts. A list that
 * is too long is not stored: the result is 0, and a host lists the files when somebody asks.
 */
export async function storeIndex(
  context: CopyContext,
  copy: Copy,
  keys: CopyKeys,
  batches: AsyncIterable<CaptureFile[]>,
): Promise<number> {
  const { store, logger } = context
  let parts = 0
  let total = 0
  let entries: string[] = []
  let bytes = 0
  const flush = async (): Promise<void> => {
    const key = indexKey(copy.organizationId, copy.id, parts)
    const text = entries.join('')
    await store.put(key, await sealPart(keys, key, text))
    if ((await openPart(keys, key, await store.get(key))) !== text)
      throw new Error(`the object store returned other content for ${key} than was stored`)
    parts += 1
    entries = []
    bytes = 0
  }
  for await (const files of batches) {
    for (const file of files) {
      // Only a manipulated disk has such a name.
      if (file.path.includes('\0')) continue
      const entry = entryOf(file)
      const length = Buffer.byteLength(entry)
      entries.push(entry)
      bytes += length
      total += length
      if (total > (context.indexBytesMax ?? indexBytesMax)) {
        for (let part = 0; part < parts; part++)
          await store.delete(indexKey(copy.organizationId, copy.id, part))
        logger.info({ snapshotId: copy.snapshotId }, 'the list of files is too long; the copy has no index')
        return 0
      }
      if (entries.length >= filesInPart || bytes >= partBytesMax) await flush()
    }
  }
  if (entries.length > 0) await flush()
  return parts
}

const parseEntry = (entry: string): CaptureFile => {
  const [size = '', inode = ''] = entry.split(' ', 2)
  return {
    path: entry.slice(size.length + inode.length + 2),
    size: Number(size),
    inode: Number(inode),
  }
}

const parsePart = (text: string): CaptureFile[] =>
  text.startsWith('{')
    ? text.split('\n').map((line) => JSON.parse(line) as CaptureFile)
    : text.slice(0, -1).split('\0').map(parseEntry)

/** Yields the files of the copy's index, part by part. Throws `ChunkDamaged` and `ObjectMissing`. */
export async function* readIndex(
  { store }: Pick<CopyContext, 'store'>,
  copy: IndexedCopy,
  keys: CopyKeys,
): AsyncGenerator<CaptureFile[]> {
  for (let part = 0; part < copy.indexParts; part++) {
    const key = indexKey(copy.organizationId, copy.id, part)
    yield parsePart(await openPart(keys, key, await store.get(key)))
  }
}
