/**
 * Copies one capture to the object store. Chunks first, each read back and opened before its row is written; then the
 * file index; the manifest last; only then does the Snapshot count as copied. An attempt that ends early leaves objects
 * that a sweep removes, and nothing else.
 */
import {
  type CopyKeys,
  chunkBytes,
  decodeChunks,
  type Manifest,
  openChunk,
  openManifest,
  openPart,
  type SealedChunk,
  sealManifest,
  sealPart,
  serialiseCopyKeys,
} from '@dock/copy-format'
import { createTimers } from '../../engine/index.ts'
import type { CaptureFile, NamedChunk } from '../hosts/index.ts'
import { type CopyContext, chunksPrefix, indexKey, manifestKey } from './copy-context.ts'
import { copyKeys } from './copy-keys.ts'
import {
  abandonCopy,
  beginCopy,
  type Copy,
  CopyLost,
  type DueSnapshot,
  publishCopy,
  recordChunk,
  renewCopy,
  useChunks,
} from './copy-store.ts'

/** How soon another process goes on where one died; renewed meanwhile, whatever one step takes. */
export const copyLeaseMs = 30_000
const renewEveryMs = 5_000
const filesInPart = 5_000
/** In characters. Names may be long: then a part holds fewer files. */
const partLengthMax = 2 ** 21
/** In characters, however small the disk. A longer list than the disk is large is no list of its files. */
const indexLengthMin = 2 ** 30

export type CopyReport = { addedBytes: number; chunks: number; addedChunks: number }

const leaseUntil = (context: CopyContext): Date => new Date(context.clock.now().getTime() + copyLeaseMs)

/** Renews the lease until `end`. `require` throws {@link CopyLost} once it is another's. */
const holdLease = (context: CopyContext, copy: Copy): { require(): void; end(): void } => {
  const { db, clock, logger, owner } = context
  let lost: CopyLost | undefined
  const renew = async (): Promise<void> => {
    try {
      await renewCopy(db, copy, { owner, until: leaseUntil(context) })
    } catch (error) {
      // A database that is away for a moment takes no lease away.
      if (!(error instanceof CopyLost)) throw error
      lost = error
    }
  }
  const tasks = [{ name: 'lease of a copy', everyMs: renewEveryMs, run: renew }]
  const timers = createTimers({ clock, logger, tasks })
  timers.start()
  return {
    require: () => {
      if (lost) throw lost
    },
    end: timers.stop,
  }
}

/** Stores one chunk and proves it; answers the bytes that the store has grown by. */
const storeChunk = async (
  context: CopyContext,
  copy: Copy,
  keys: CopyKeys,
  { name, bytes }: SealedChunk,
): Promise<number> => {
  const { db, store, clock } = context
  // The attempt's own key: what a sweep removes is never what another copy stores, nor what this one still records.
  const objectKey = `${chunksPrefix(copy.organizationId)}${name.slice(0, 2)}/${name}-${copy.id}`
  await store.put(objectKey, bytes)
  await openChunk(keys, name, await store.get(objectKey))
  const chunk = { name, objectKey, sizeBytes: bytes.length }
  if (await recordChunk(db, copy, chunk, clock.now())) return bytes.length
  await store.delete(objectKey)
  return 0
}

/** The disk that is copied, where it stands; without `files` the copy has no index. */
export type DiskSource = {
  name(keys: string): Promise<{ diskBytes: number; chunks: NamedChunk[] }>
  seal(keys: string, wanted: readonly number[]): Promise<AsyncIterable<Uint8Array>>
  files?(): AsyncIterable<CaptureFile[]>
}

const captureSource = ({ gateway }: CopyContext, { id, hostId }: DueSnapshot): DiskSource => ({
  name: (keys) => gateway.nameChunks(hostId, id, keys),
  seal: (keys, wanted) => gateway.sealChunks(hostId, id, keys, wanted),
  files: () => gateway.tree(hostId, id),
})

/** Stores the list of files in parts, so that a million of them are never held at once. Answers how many parts. */
const storeIndex = async (
  context: CopyContext,
  copy: Copy,
  keys: CopyKeys,
  batches: AsyncIterable<CaptureFile[]>,
  bytesMax: number,
): Promise<number> => {
  const { store } = context
  let parts = 0
  let total = 0
  let lines: string[] = []
  let length = 0
  const flush = async (): Promise<void> => {
    const key = indexKey(copy.organizationId, copy.id, parts)
    const text = lines.join('\n')
    await store.put(key, await sealPart(keys, key, text))
    if ((await openPart(keys, key, await store.get(key))) !== text) throw new Error(`${key} was not kept`)
    parts += 1
    lines = []
    length = 0
  }
  for await (const files of batches) {
    for (const file of files) {
      const line = JSON.stringify(file)
      lines.push(line)
      length += line.length
      total += line.length
      if (total > bytesMax) throw new Error('the list of files is longer than the disk is large')
      if (lines.length >= filesInPart || length >= partLengthMax) await flush()
    }
  }
  if (lines.length > 0) await flush()
  return parts
}

const storeManifest = async (
  context: CopyContext,
  copy: Copy,
  keys: CopyKeys,
  manifest: Manifest,
): Promise<void> => {
  const key = manifestKey(copy.organizationId, copy.id)
  await context.store.put(key, await sealManifest(keys, key, manifest))
  const kept = await openManifest(keys, key, await context.store.get(key))
  if (JSON.stringify(kept) !== JSON.stringify(manifest)) throw new Error(`${key} was not kept`)
}

const copyDisk = async (
  context: CopyContext,
  copy: Copy,
  source: DiskSource,
  requireLease: () => void,
): Promise<CopyReport> => {
  const { db, clock } = context
  const keys = await copyKeys(context, copy.organizationId)
  const secret = serialiseCopyKeys(keys)
  const { diskBytes, chunks } = await source.name(secret)
  requireLease()
  const names = [...new Set(chunks.map(({ name }) => name))]
  const stored = await useChunks(db, copy, names, clock.now())
  // Equal chunks of one disk are sent once.
  const missing = new Map(
    chunks.filter(({ name }) => !stored.has(name)).map((each) => [each.name, each.index]),
  )
  let addedBytes = 0
  if (missing.size > 0) {
    const frames = await source.seal(secret, [...missing.values()])
    for await (const chunk of decodeChunks(frames)) {
      // Each that is missing once, and nothing else: a hostile host could fill the store.
      if (!missing.has(chunk.name))
        throw new Error(`the host sent chunk ${chunk.name}, which nobody asked for`)
      addedBytes += await storeChunk(context, copy, keys, chunk)
      missing.delete(chunk.name)
      requireLease()
    }
  }
  if (missing.size > 0) throw new Error(`${missing.size} chunks were not sent`)
  const indexParts = source.files
    ? await storeIndex(
        context,
        copy,
        keys,
        source.files(),
        Math.max(diskBytes, context.indexLengthMin ?? indexLengthMin),
      )
    : 0
  const places = chunks.map(({ index, name }): [number, string] => [index, name])
  await storeManifest(context, copy, keys, { version: 1, diskBytes, chunkBytes, chunks: places, indexParts })
  const facts = { diskBytes, indexParts, addedBytes, owner: context.owner, now: clock.now() }
  await publishCopy(db, copy, facts)
  return { addedBytes, chunks: chunks.length, addedChunks: names.length - stored.size }
}

/**
 * Makes the copy of a completed Snapshot, or of another disk under an id of its own; null when another process is at it.
 * Throws when it could not be made.
 */
export async function takeCopy(
  context: CopyContext,
  snapshot: DueSnapshot,
  source: DiskSource = captureSource(context, snapshot),
): Promise<CopyReport | null> {
  const { db, clock, owner } = context
  const copy = await beginCopy(db, snapshot, { owner, until: leaseUntil(context), now: clock.now() })
  if (!copy) return null
  const lease = holdLease(context, copy)
  try {
    return await copyDisk(context, copy, source, lease.require)
  } catch (error) {
    await abandonCopy(db, copy).catch(() => undefined)
    throw error
  } finally {
    lease.end()
  }
}
