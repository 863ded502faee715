/**
 * Copies one disk to the object store, in this order: chunks, file index, manifest. Each object is read back and opened
 * after it was stored; a chunk's row is written only after that. The Snapshot counts as copied once the copy is published.
 * A failed attempt leaves only objects, which a sweep removes.
 */
import {
  type CopyKeys,
  chunkBytes,
  decodeChunks,
  type Manifest,
  openChunk,
  openManifest,
  type SealedChunk,
  sealManifest,
  serialiseCopyKeys,
} from '@dock/copy-format'
import { createTimers } from '../../../engine/index.ts'
import type { CaptureFile, NamedChunk } from '../../hosts/index.ts'
import { type CopyContext, chunksPrefix, manifestKey } from './copy-context.ts'
import { storeIndex } from './copy-index.ts'
import { ensureCopyKeys } from './copy-keys.ts'
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

/** How soon another process can retry after one died. A timer renews the lease, however long a step takes. */
export const copyLeaseMs = 30_000
const renewEveryMs = 5_000

export type CopyReport = { addedBytes: number; chunks: number; addedChunks: number }

const leaseUntil = (context: CopyContext): Date => new Date(context.clock.now().getTime() + copyLeaseMs)

/** Renews the lease until `end` is called. `require` throws {@link CopyLost} once the lease is lost. */
const holdLease = (context: CopyContext, copy: Copy): { require(): void; end(): void } => {
  const { db, clock, logger, owner } = context
  let lost: CopyLost | undefined
  const renew = async (): Promise<void> => {
    try {
      await renewCopy(db, copy, { owner, until: leaseUntil(context) })
    } catch (error) {
      // Any other error, such as a database that is briefly unavailable, does not end the lease.
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

/** Stores one chunk and verifies it. Returns the bytes that were added to the store. */
const storeChunk = async (
  context: CopyContext,
  copy: Copy,
  keys: CopyKeys,
  { name, bytes }: SealedChunk,
): Promise<number> => {
  const { db, store, clock } = context
  // The key contains the copy's id, so a sweep never removes an object that another copy is storing.
  const objectKey = `${chunksPrefix(copy.organizationId)}${name.slice(0, 2)}/${name}-${copy.id}`
  await store.put(objectKey, bytes)
  await openChunk(keys, name, await store.get(objectKey))
  const chunk = { name, objectKey, sizeBytes: bytes.length }
  if (await recordChunk(db, copy, chunk, clock.now())) return bytes.length
  await store.delete(objectKey)
  return 0
}

/** Access to the disk that is copied. Without `files` the copy has no index, and a host lists the files. */
export type DiskSource = {
  name(keys: string): Promise<{ diskBytes: number; chunks: NamedChunk[] }>
  seal(keys: string, wanted: readonly number[]): Promise<{ body: AsyncIterable<Uint8Array> }>
  files?(): AsyncIterable<CaptureFile[]>
}

/** Returns access to the capture of a completed Snapshot. */
export function captureSource({ gateway }: CopyContext, { id, hostId }: DueSnapshot): DiskSource {
  return {
    name: (keys) => gateway.nameChunks({ hostId, captureId: id }, { keys }),
    seal: (keys, wanted) => gateway.sealChunks({ hostId, captureId: id }, { keys, wanted: [...wanted] }),
    files: () => gateway.listCaptureFiles({ hostId, captureId: id }),
  }
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
  if (JSON.stringify(kept) !== JSON.stringify(manifest))
    throw new Error(`the object store returned other content for ${key} than was stored`)
}

const copyDisk = async (
  context: CopyContext,
  copy: Copy,
  source: DiskSource,
  requireLease: () => void,
): Promise<CopyReport> => {
  const { db, clock } = context
  const keys = await ensureCopyKeys(context, copy.organizationId)
  const secret = serialiseCopyKeys(keys)
  const { diskBytes, chunks } = await source.name(secret)
  requireLease()
  const names = [...new Set(chunks.map(({ name }) => name))]
  const stored = await useChunks(db, copy, names, clock.now())
  // A chunk that occurs several times on the disk is sent once.
  const missing = new Map(
    chunks.filter(({ name }) => !stored.has(name)).map((each) => [each.name, each.index]),
  )
  let addedBytes = 0
  if (missing.size > 0) {
    const { body: frames } = await source.seal(secret, [...missing.values()])
    for await (const chunk of decodeChunks(frames)) {
      // Accept each missing chunk once and no other: a hostile host could fill the store.
      if (!missing.has(chunk.name))
        throw new Error(`the host sent chunk ${chunk.name}, which was not requested`)
      addedBytes += await storeChunk(context, copy, keys, chunk)
      missing.delete(chunk.name)
      requireLease()
    }
  }
  if (missing.size > 0) throw new Error(`the host did not send ${missing.size} chunks that were requested`)
  const indexParts = source.files ? await storeIndex(context, copy, keys, source.files()) : 0
  const places = chunks.map(({ index, name }): [number, string] => [index, name])
  await storeManifest(context, copy, keys, { version: 1, diskBytes, chunkBytes, chunks: places, indexParts })
  const facts = { diskBytes, indexParts, addedBytes, owner: context.owner, now: clock.now() }
  await publishCopy(db, copy, facts)
  return { addedBytes, chunks: chunks.length, addedChunks: names.length - stored.size }
}

/**
 * Copies a completed Snapshot, or another disk under an id of its own. Returns null if another process holds the lease.
 * Throws if the copy fails.
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
