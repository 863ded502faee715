/** Calls about captures that carry many bytes: over the bulk link, so that they delay no command and no heartbeat. */
import { Readable } from 'node:stream'
import {
  type AgentLink,
  type AgentStream,
  captured,
  captureFile,
  fileSizeHeader,
  namedChunk,
  namedDisk,
  readLines,
  refusalOf,
  writeByteRange,
} from '@dock/host-protocol'
import * as z from 'zod'
import type { HostGateway } from '../../modules/hosts/index.ts'
import { translated, translatedStream } from './translate-failure.ts'

type CaptureCalls = Pick<HostGateway, 'tree' | 'file' | 'nameChunks' | 'sealChunks' | 'restoreCapture'>

const restoreHeadEnd = '\n'

/** `bulk` answers the host's bulk link, or throws HostUnreachable. */
export const captureCalls = (bulk: (hostId: string) => AgentLink): CaptureCalls => {
  const ask = (hostId: string, method: string, path: string, body?: unknown): Promise<AgentStream> =>
    translated(
      (async () => {
        const answer = await bulk(hostId).stream(method, path, body === undefined ? {} : { body })
        if (answer.status === 200) return answer
        throw refusalOf(answer.status, (await answer.stream.toArray()).join(''))
      })(),
    )

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
    nameChunks: async (hostId, captureId, keys) => {
      const { stream } = await ask(hostId, 'POST', `/captures/${captureId}/chunk-names`, { keys })
      const named: { diskBytes: number; chunks: z.infer<typeof namedChunk>[] } = { diskBytes: 0, chunks: [] }
      for await (const line of translatedStream(readLines(stream, z.union([namedChunk, namedDisk])))) {
        if ('diskBytes' in line) named.diskBytes = line.diskBytes
        else named.chunks.push(line)
      }
      return named
    },
    sealChunks: async (hostId, captureId, keys, wanted) => {
      const { stream } = await ask(hostId, 'POST', `/captures/${captureId}/chunks`, { keys, wanted })
      return translatedStream(stream as AsyncIterable<Uint8Array>)
    },
    restoreCapture: async (hostId, captureId, disk, frames) => {
      let failure: unknown
      async function* whole(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(`${JSON.stringify(disk)}${restoreHeadEnd}`)
        try {
          yield* frames
        } catch (error) {
          failure = error
          throw error
        }
      }
      const body = Readable.from(whole(), { objectMode: false })
      const { stream } = await ask(hostId, 'POST', `/captures/${captureId}/restore`, body).catch(
        // What broke the body tells more than that it broke.
        (error: unknown) => Promise.reject(failure ?? error),
      )
      const answer = Buffer.concat((await stream.toArray()) as Buffer[])
      return captured.parse(JSON.parse(answer.toString('utf8')))
    },
  }
}
