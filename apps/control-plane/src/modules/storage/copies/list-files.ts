/**
 * Lists the files of a Snapshot in batches, so that a long list is never in memory at once. The files come from the index
 * of the copy, which needs no host. Without an index they come from a host that keeps the capture.
 */
import { ChunkDamaged } from '@dock/copy-format'
import { ObjectMissing } from '../../../object-store/index.ts'
import type { CaptureFile } from '../../hosts/index.ts'
import type { CopyContext } from './copy-context.ts'
import { readIndex } from './copy-index.ts'
import { ensureCopyKeys } from './copy-keys.ts'
import { findIndexedCopy } from './copy-store.ts'
import { captureHost } from './restore-copy.ts'

/** Reads the first batch ahead, so that a list that cannot be read fails before the response begins. */
const withFirstBatchRead = async (
  list: AsyncIterable<CaptureFile[]>,
): Promise<AsyncIterable<CaptureFile[]>> => {
  const batches = list[Symbol.asyncIterator]()
  const first = await batches.next()
  let isFirst = true
  // Not a generator: `return` of a generator that was never started would not close `batches`.
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        if (!isFirst) return batches.next()
        isFirst = false
        return first
      },
      return: async () => {
        await batches.return?.()
        return { done: true, value: undefined }
      },
    }),
  }
}

/** Lists the files of a completed Snapshot, in no defined order. Throws the errors of the host or the store. */
export async function listFiles(
  context: CopyContext,
  snapshot: { id: string; hostId: string | null },
): Promise<AsyncIterable<CaptureFile[]>> {
  const copy = await findIndexedCopy(context.db, snapshot.id)
  try {
    if (copy && copy.indexParts > 0) {
      const keys = await ensureCopyKeys(context, copy.organizationId)
      return await withFirstBatchRead(readIndex(context, copy, keys))
    }
  } catch (error) {
    if (!(error instanceof ChunkDamaged || error instanceof ObjectMissing)) throw error
    context.logger.error(
      { err: error, snapshotId: snapshot.id },
      'the index of a copy is damaged; listing the files from a host',
    )
  }
  const hostId = await captureHost(context, snapshot)
  return withFirstBatchRead(context.gateway.listCaptureFiles({ hostId, captureId: snapshot.id }))
}
