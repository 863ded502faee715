/**
 * Copies one capture to the object store. Chunks first, each read back and opened before its row is written; then the
 * file index; the manifest last; only then does the Snapshot count as copied. An attempt that ends early leaves objects
 * that a sweep removes, and nothing else.
 */
import { randomBytes } from 'node:crypto'
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
import type { CaptureFile, NamedChunk } from '../hosts/index.ts'
import { type CopyContext, chunksPrefix, indexKey, manifestKey } from './copy-context.ts'
import { copyKeys } from './copy-keys.ts'
import {
  abandonCopy,
  beginCopy,
  type Copy,
  type DueSnapshot,
  publishCopy,
  recordChunk,
  renewCopy,
  useChunks,
} from './copy-store.ts'

/** Longer than any one chunk, file list or manifest takes. */
export const copyLeaseMs = 120_000
const renewEveryMs = 20_000
const filesInPart = 5_000

export type CopyReport = { addedBytes: number; chunks: number; addedChunks: number }

const leaseUntil = (context: CopyContext): Date => new Date(context.clock.now().getTime() + copyLeaseMs)

/** Stores one chunk and proves it; answers the bytes that the store has grown by. */
const storeChunk = async (
  context: CopyContext,
  copy: Copy,
  keys: CopyKeys,
  { name, bytes }: SealedChunk,
): Promise<number> => {
  const { db, store, clock } = context
  // A key of its own for each attempt: what a sweep removes is never what another copy has just stored.
  const suffix = randomBytes(8).toString('hex')
  const objectKey = `${chunksPrefix(copy.organizationId)}${name.slice(0, 2)}/${name}-${suffix}`
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
  files?(): AsyncIterable<CaptureFile>
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
  files: AsyncIterable<CaptureFile>,
): Promise<number> => {
  const { store } = context
  let parts = 0
  let lines: string[] = []
  const flush = async (): Promise<void> => {
    const key = indexKey(copy.organizationId, copy.id, parts)
    const text = lines.join('\n')
    await store.put(key, await sealPart(keys, key, text))
    if ((await openPart(keys, key, await store.get(key))) !== text) throw new Error(`${key} was not kept`)
    parts += 1
    lines = []
  }
  for await (const file of files) {
    if (lines.push(JSON.stringify(file)) >= filesInPart) await flush()
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
  renew: () => Promise<void>,
): Promise<CopyReport> => {
  const { db, clock } = context
  const keys = await copyKeys(context, copy.organizationId)
  const secret = serialiseCopyKeys(keys)
  const { diskBytes, chunks } = await source.name(secret)
  await renew()
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
      addedBytes += await storeChunk(context, copy, keys, chunk)
      missing.delete(chunk.name)
      await renew()
    }
  }
  if (missing.size > 0) throw new Error(`${missing.size} chunks were not sent`)
  const indexParts = source.files ? await storeIndex(context, copy, keys, source.files()) : 0
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
export const takeCopy = async (
  context: CopyContext,
  snapshot: DueSnapshot,
  source: DiskSource = captureSource(context, snapshot),
): Promise<CopyReport | null> => {
  const { db, clock, owner } = context
  const copy = await beginCopy(db, snapshot, { owner, until: leaseUntil(context), now: clock.now() })
  if (!copy) return null
  let renewedAt = clock.now().getTime()
  const renew = async (): Promise<void> => {
    if (clock.now().getTime() - renewedAt < renewEveryMs) return
    await renewCopy(db, copy, { owner, until: leaseUntil(context) })
    renewedAt = clock.now().getTime()
  }
  try {
    return await copyDisk(context, copy, source, renew)
  } catch (error) {
    await abandonCopy(db, copy).catch(() => undefined)
    throw error
  }
}
