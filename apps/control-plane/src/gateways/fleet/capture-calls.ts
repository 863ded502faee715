/** Calls that carry many bytes, of captures and images: over the bulk link, so that they delay no command and no heartbeat. */
import { Readable } from 'node:stream'
import {
  type AgentLink,
  captured,
  captureFile,
  fileSizeHeader,
  readLines,
  writeByteRange,
} from '@dock/host-protocol'
import type { HostGateway } from '../../modules/hosts/index.ts'
import { diskCalls } from './disk-calls.ts'
import { translatedStream } from './translate-failure.ts'

type CaptureCalls = Pick<
  HostGateway,
  | 'tree'
  | 'file'
  | 'nameChunks'
  | 'sealChunks'
  | 'restoreCapture'
  | 'nameImageChunks'
  | 'sealImageChunks'
  | 'sendImage'
>

/** `bulk` answers the host's bulk link, or throws HostUnreachable. */
export const captureCalls = (bulk: (hostId: string) => AgentLink): CaptureCalls => {
  const { ask, nameChunks, sealChunks, send } = diskCalls(bulk)
  return {
    async *tree(hostId, captureId) {
      const { stream } = await ask(hostId, 'GET', `/captures/${captureId}/tree`)
      yield* translatedStream(readLines(stream, captureFile))
    },
    file: async (hostId, captureId, path, range) => {
      const query = new URLSearchParams({ path, ...(range ? { range: writeByteRange(range) } : {}) })
      const { headers, stream } = await ask(hostId, 'GET', `/captures/${captureId}/files?${query}`)
      const body = Readable.toWeb(stream) as ReadableStream<Uint8Array>
      return { size: Number(headers[fileSizeHeader]), body }
    },
    nameChunks: (hostId, captureId, keys) => nameChunks(hostId, `/captures/${captureId}`, keys),
    sealChunks: (hostId, captureId, keys, wanted) =>
      sealChunks(hostId, `/captures/${captureId}`, keys, wanted),
    restoreCapture: async (hostId, captureId, disk, frames) =>
      captured.parse(await send(hostId, `/captures/${captureId}/restore`, disk, frames)),
    nameImageChunks: (hostId, image, keys) => nameChunks(hostId, `/images/${image}`, keys),
    sealImageChunks: (hostId, image, keys, wanted) => sealChunks(hostId, `/images/${image}`, keys, wanted),
    sendImage: async (hostId, image, disk, frames) => {
      await send(hostId, `/images/${image}/receive`, disk, frames)
    },
  }
}
