/** Captures of the fake host: the disk of each is its id, so that a copy that comes back can be told. Tests only. */
import {
  chunkName,
  decodeChunks,
  encodeChunk,
  encodeEnd,
  openChunk,
  parseCopyKeys,
  sealChunk,
} from '@dock/copy-format'
import { type HostGateway, HostRefused } from '../hosts/index.ts'

/** `captures` holds the ids of those that are there. */
export const fakeCaptures = (
  captures: Set<string>,
): Pick<HostGateway, 'nameChunks' | 'sealChunks' | 'restoreCapture'> => {
  const content = (captureId: string): Buffer => {
    if (!captures.has(captureId)) throw new HostRefused('not_found', 'no such capture')
    return Buffer.from(captureId)
  }
  return {
    nameChunks: async (_host, captureId, secret) => {
      const disk = content(captureId)
      return {
        diskBytes: disk.length,
        chunks: [{ index: 0, name: await chunkName(parseCopyKeys(secret), disk) }],
      }
    },
    sealChunks: async (_host, captureId, secret, wanted) => {
      const disk = content(captureId)
      const keys = parseCopyKeys(secret)
      const name = await chunkName(keys, disk)
      async function* frames(): AsyncGenerator<Buffer> {
        for (const index of wanted)
          yield* encodeChunk({ index, name, bytes: await sealChunk(keys, name, disk) })
        yield encodeEnd()
      }
      return frames()
    },
    restoreCapture: async (_host, captureId, disk, frames) => {
      const keys = parseCopyKeys(disk.keys)
      for await (const { name, bytes } of decodeChunks(frames)) {
        const restored = await openChunk(keys, name, bytes)
        if (restored.toString() !== captureId) throw new HostRefused('damaged', 'the disk of another capture')
      }
      captures.add(captureId)
      return { sizeBytes: disk.diskBytes }
    },
  }
}
