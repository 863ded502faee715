/** What can be written to a file, and how it is sent. */
import { collect } from './body-chunks.ts'
import type { RawBody } from './request-options.ts'

export type FileData = string | Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** Browsers send a stream only over HTTP/2, and this service may be behind HTTP/1.1. */
const canStream = (): boolean => !('document' in globalThis || 'importScripts' in globalThis)

const chunksOf = async function* (stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

const streamOf = (source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> => {
  const iterator = source[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: async () => {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Returns a body for `fetch`. Where streams cannot be sent, reads them into memory first. */
export async function bodyOf(data: FileData): Promise<RawBody> {
  if (typeof data === 'string' || data instanceof Blob) return data
  if (data instanceof Uint8Array) return data as Uint8Array<ArrayBuffer>
  if (canStream()) return data instanceof ReadableStream ? data : streamOf(data)
  return collect(data instanceof ReadableStream ? chunksOf(data) : data)
}
