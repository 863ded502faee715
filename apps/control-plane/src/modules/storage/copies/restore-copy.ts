/** Restores captures to hosts from their copies. The host verifies every chunk before it keeps the capture. */
import { encodeChunk, encodeEnd, type Manifest, openManifest, serialiseCopyKeys } from '@dock/copy-format'
import { sql } from 'kysely'
import { bootsDisk } from '../../hosts/index.ts'
import {
  beginRestore,
  type CapturePlace,
  endRestore,
  findLinkedKeeper,
  finishRestore,
  recordCaptureUse,
} from '../captures/restore-store.ts'
import { type CopyContext, manifestKey } from './copy-context.ts'
import { ensureCopyKeys } from './copy-keys.ts'
import { type Copy, findVerifiedCopy, listChunkObjects } from './copy-store.ts'

/** Number of objects that are read ahead while the host writes. */
const readAhead = 3

/** The Snapshot has neither a capture on a connected host nor a verified copy that can be restored. */
export class NoCopy extends Error {
  override readonly name = 'NoCopy'
}

async function* frames(
  context: CopyContext,
  chunks: readonly (readonly [number, string])[],
  objects: ReadonlyMap<string, string>,
): AsyncGenerator<Uint8Array> {
  const read = ([, name]: readonly [number, string]): Promise<Buffer> => {
    const key = objects.get(name)
    const reading = key ? context.store.get(key) : Promise.reject(new NoCopy(`chunk ${name} has no object`))
    // The loop below awaits this later. Until then a failure must not count as an unhandled rejection.
    reading.catch(() => undefined)
    return reading
  }
  const ahead = chunks.slice(0, readAhead).map(read)
  for (const [at, chunk] of chunks.entries()) {
    const next = chunks[at + readAhead]
    if (next) ahead.push(read(next))
    const bytes = await ahead.shift()!
    yield* encodeChunk({ index: chunk[0], name: chunk[1], bytes })
  }
  yield encodeEnd()
}

/** Returns what a host needs to restore the disk of a copy: the serialised keys, the manifest, and the chunk frames. */
export async function readCopy(
  context: CopyContext,
  copy: Copy,
): Promise<{ keys: string; manifest: Manifest; frames: AsyncIterable<Uint8Array> }> {
  const { store, db } = context
  const keys = await ensureCopyKeys(context, copy.organizationId)
  const key = manifestKey(copy.organizationId, copy.id)
  const manifest = await openManifest(keys, key, await store.get(key))
  const objects = await listChunkObjects(db, copy)
  return { keys: serialiseCopyKeys(keys), manifest, frames: frames(context, manifest.chunks, objects) }
}

/** Sends the copy to the host, which verifies every chunk. Throws if anything is missing or damaged. */
export async function restoreCopy(context: CopyContext, copy: Copy, hostId: string): Promise<void> {
  const { gateway, logger } = context
  const startedAt = performance.now()
  const { keys, manifest, frames } = await readCopy(context, copy)
  await gateway.restoreCapture(
    { hostId, captureId: copy.snapshotId },
    { keys, diskBytes: manifest.diskBytes },
    frames,
  )
  const ms = Math.round(performance.now() - startedAt)
  logger.info({ snapshotId: copy.snapshotId, hostId, chunks: manifest.chunks.length, ms }, 'copy restored')
}

/** Restores in progress in this process, by Snapshot and host. Concurrent callers share one restore. */
const restoring = new WeakMap<CopyContext, Map<string, Promise<void>>>()

const restoreOnce = (context: CopyContext, place: CapturePlace, isMissing: boolean): Promise<void> => {
  const underWay = restoring.get(context) ?? new Map<string, Promise<void>>()
  restoring.set(context, underWay)
  const key = `${place.snapshotId} ${place.hostId}`
  const joined = underWay.get(key) ?? restore(context, place, isMissing).finally(() => underWay.delete(key))
  underWay.set(key, joined)
  return joined
}

const restore = async (context: CopyContext, place: CapturePlace, isMissing: boolean): Promise<void> => {
  const { db, clock } = context
  // A restore that ended after the caller looked has brought the capture.
  if (!isMissing && (await recordCaptureUse(db, place, clock.now()))?.isKept) return
  const { snapshotId, hostId } = place
  const copy = await findVerifiedCopy(db, snapshotId)
  if (!copy) throw new NoCopy(`Snapshot ${snapshotId} has no verified copy yet`)
  await beginRestore(db, place, clock.now())
  try {
    await restoreCopy(context, copy, hostId)
    await finishRestore(db, place, clock.now())
  } catch (error) {
    await endRestore(db, place).catch(() => undefined)
    throw error
  }
}

/**
 * Ensures that the host keeps the Snapshot's capture, and restores it from the copy if it does not. `isMissing`: the host
 * reported that it has no capture, so the database's record is wrong. Idempotent. Throws {@link NoCopy}, or the errors of
 * the host or the store.
 */
export async function ensureCapture(
  context: CopyContext,
  snapshotId: string,
  hostId: string,
  isMissing = false,
): Promise<void> {
  const place = { snapshotId, hostId }
  const used = await recordCaptureUse(context.db, place, context.clock.now())
  if (!used) throw new NoCopy(`no completed Snapshot ${snapshotId}`)
  if (!used.isKept || isMissing) await restoreOnce(context, place, isMissing)
}

/**
 * Returns a connected host that keeps the capture of a completed Snapshot. If none does, restores the capture to the host
 * with the most free disk among those that boot it. Throws {@link NoCopy} if there is no copy yet, or no such host.
 */
export async function captureHost(
  context: CopyContext,
  snapshot: { id: string; hostId: string | null },
): Promise<string> {
  const linked = context.gateway.hostsWithControlLink()
  if (snapshot.hostId !== null && linked.includes(snapshot.hostId)) return snapshot.hostId
  const keeper = await findLinkedKeeper(context.db, snapshot.id, linked)
  if (keeper !== null) return keeper
  const found = await sql<{ id: string }>`
    select h.id from hosts h join snapshots s on ${bootsDisk(sql`h.runtime`, sql`s.runtime`)}
    where s.id = ${snapshot.id} and h.state = 'online' and h.id = any(${linked}::uuid[])
    order by exists (select 1 from snapshot_restores r where r.snapshot_id = s.id and r.host_id = h.id) desc,
      h.disk_free_bytes desc limit 1`.execute(context.db)
  const hostId = found.rows[0]?.id
  if (hostId === undefined) throw new NoCopy('no host could take the capture')
  await ensureCapture(context, snapshot.id, hostId)
  return hostId
}
