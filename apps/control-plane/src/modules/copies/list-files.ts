/**
 * The files of a Snapshot, some thousand at a time, so that a million of them are never held at once: from the index of
 * its copy, without any disk; until there is a copy, from the host that keeps the capture.
 */
import { ChunkDamaged, openPart } from '@dock/copy-format'
import { ObjectMissing } from '../../object-store/index.ts'
import type { CaptureFile } from '../hosts/index.ts'
import { type CopyContext, indexKey } from './copy-context.ts'
import { copyKeys } from './copy-keys.ts'
import { type IndexedCopy, indexedCopy } from './copy-store.ts'
import { captureHost } from './restore-copy.ts'

async function* indexed(context: CopyContext, copy: IndexedCopy): AsyncGenerator<CaptureFile[]> {
  const keys = await copyKeys(context, copy.organizationId)
  for (let part = 0; part < copy.indexParts; part++) {
    const key = indexKey(copy.organizationId, copy.id, part)
    const text = await openPart(keys, key, await context.store.get(key))
    yield text.split('\n').map((line) => JSON.parse(line) as CaptureFile)
  }
}

/** The same, begun: what cannot be listed at all fails here and not in the middle of an answer. */
const begun = async (list: AsyncIterable<CaptureFile[]>): Promise<AsyncIterable<CaptureFile[]>> => {
  const batches = list[Symbol.asyncIterator]()
  const first = await batches.next()
  let isFirst = true
  // Not a generator: whoever does not read it at all ends it all the same.
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

/** Of a completed Snapshot, in no order to rely on. Throws what the host or the store failed with. */
export async function listFiles(
  context: CopyContext,
  snapshot: { id: string; hostId: string | null },
): Promise<AsyncIterable<CaptureFile[]>> {
  const copy = await indexedCopy(context.db, snapshot.id)
  try {
    if (copy) return await begun(indexed(context, copy))
  } catch (error) {
    if (!(error instanceof ChunkDamaged || error instanceof ObjectMissing)) throw error
    context.logger.error({ err: error, snapshotId: snapshot.id }, 'the index of a copy is damaged')
  }
  const hostId = await captureHost(context, snapshot)
  return begun(context.gateway.tree(hostId, snapshot.id))
}
