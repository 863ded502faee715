/**
 * The restore drill. A timer reads one copy back as a restore would, opens every object, verifies every chunk against its
 * name, and compares the copy with the captures that hosts still keep. Damage is logged. A damaged copy is made again if a
 * host keeps the capture, and a damaged capture is removed.
 */
import { setTimeout as delay } from 'node:timers/promises'
import {
  ChunkDamaged,
  type CopyKeys,
  type Manifest,
  openChunk,
  openManifest,
  openPart,
  serialiseCopyKeys,
} from '@dock/copy-format'
import { ObjectMissing } from '../../../object-store/index.ts'
import { HostRefused, HostUnreachable } from '../../hosts/index.ts'
import { type CopyContext, indexKey, manifestKey } from './copy-context.ts'
import { ensureCopyKeys } from './copy-keys.ts'
import { listChunkObjects } from './copy-store.ts'
import { type DrilledCopy, findNextDrill, giveUpCapture, recordDamage, recordWhole } from './drill-store.ts'

/** Read rate of a drill. It is low, since no user waits for a drill. */
const bytesPerSecond = 16 * 2 ** 20
/** How long a copy waits whose drill failed, for example because the store did not answer. */
const retryMs = 3_600_000

export type DrillResult = 'whole' | 'damaged copy' | 'damaged capture'

/** Returns the result of `read`, or null if the object is missing or damaged. */
const nullIfDamaged = async <T>(read: () => Promise<T>): Promise<T | null> => {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ChunkDamaged || error instanceof ObjectMissing) return null
    throw error
  }
}

const readManifest = async (
  { store }: CopyContext,
  copy: DrilledCopy,
  keys: CopyKeys,
): Promise<Manifest | null> =>
  nullIfDamaged(async () => {
    const key = manifestKey(copy.organizationId, copy.id)
    const manifest = await openManifest(keys, key, await store.get(key))
    for (let part = 0; part < manifest.indexParts; part++) {
      const place = indexKey(copy.organizationId, copy.id, part)
      await openPart(keys, place, await store.get(place))
    }
    return manifest
  })

/** Returns the names of missing and damaged chunks, each with its object key if it has one. */
const badChunks = async (
  context: CopyContext,
  copy: DrilledCopy,
  keys: CopyKeys,
  manifest: Manifest,
): Promise<Map<string, string | undefined>> => {
  const objects = await listChunkObjects(context.db, copy)
  const bad = new Map<string, string | undefined>()
  for (const name of new Set(manifest.chunks.map(([, each]) => each))) {
    const key = objects.get(name)
    const size = key && (await nullIfDamaged(async () => readChunk(context, keys, name, key)))
    if (size) await delay((size / bytesPerSecond) * 1000)
    else bad.set(name, key)
  }
  return bad
}

const readChunk = async (
  { store }: CopyContext,
  keys: CopyKeys,
  name: string,
  key: string,
): Promise<number> => {
  const sealed = await store.get(key)
  await openChunk(keys, name, sealed)
  return sealed.length
}

/** Returns true if the host's capture equals the copy, or null if the host cannot be asked now. */
const captureMatchesCopy = async (
  { gateway }: CopyContext,
  { snapshotId }: DrilledCopy,
  hostId: string,
  keys: CopyKeys,
  manifest: Manifest,
): Promise<boolean | null> => {
  if (!gateway.hostsWithControlLink().includes(hostId)) return null
  try {
    const { diskBytes, chunks } = await gateway.nameChunks(
      { hostId, captureId: snapshotId },
      { keys: serialiseCopyKeys(keys) },
    )
    const captured = JSON.stringify(chunks.map(({ index, name }) => [index, name]))
    return diskBytes === manifest.diskBytes && captured === JSON.stringify(manifest.chunks)
  } catch (error) {
    if (error instanceof HostUnreachable || error instanceof HostRefused) return null
    throw error
  }
}

const drill = async (context: CopyContext, copy: DrilledCopy): Promise<DrillResult | null> => {
  const { db, clock, logger } = context
  const { snapshotId } = copy
  const keys = await ensureCopyKeys(context, copy.organizationId)
  const manifest = await readManifest(context, copy, keys)
  const bad = manifest ? await badChunks(context, copy, keys, manifest) : new Map<string, string>()
  if (!manifest || bad.size > 0) {
    const chunkKeys = [...bad.values()].filter((key) => key !== undefined)
    const damage = { chunkKeys, chunkNames: [...bad.keys()] }
    const outcome = await recordDamage(db, copy, damage, clock.now())
    // The copy was deleted during the drill.
    if (!outcome) return null
    const what = { snapshotId, copyId: copy.id, manifest: manifest !== null, chunks: bad.size, ...outcome }
    logger.error(
      what,
      'a copy is damaged; Snapshots whose capture a host keeps are copied again, the others are lost',
    )
    return 'damaged copy'
  }
  await recordWhole(db, copy, clock.now())
  const results: boolean[] = []
  for (const hostId of copy.hostIds) {
    const same = await captureMatchesCopy(context, copy, hostId, keys, manifest)
    if (same === null) continue
    results.push(same)
    if (same) continue
    await giveUpCapture(db, copy, hostId, clock.now())
    logger.error({ snapshotId, hostId }, 'a capture is damaged; the copy replaces it')
  }
  if (results.includes(false)) return 'damaged capture'
  logger.info({ snapshotId, chunks: manifest.chunks.length, compared: results.length }, 'copy verified')
  return 'whole'
}

/** Copies whose drill failed in this process, and until when they wait: one that always fails must not stop the others. */
const failures = new WeakMap<CopyContext, Map<string, number>>()

/** Drills the copy whose turn it is. Returns null if none is due. */
export async function drillNext(context: CopyContext): Promise<DrillResult | null> {
  const now = context.clock.now().getTime()
  const failed = failures.get(context) ?? new Map<string, number>()
  failures.set(context, failed)
  for (const [id, until] of failed) if (until <= now) failed.delete(id)
  const before = new Date(now - context.settings.drillAgainMs)
  const copy = await findNextDrill(context.db, before, [...failed.keys()])
  if (!copy) return null
  try {
    const result = await drill(context, copy)
    if (result) context.metrics?.recordDrill(result)
    return result
  } catch (error) {
    failed.set(copy.id, now + retryMs)
    throw error
  }
}
