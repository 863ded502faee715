/** Reads a file of a Dock as a stream that goes on where a connection broke, as long as the file is the same. */
import { bodyChunks } from './body-chunks.ts'
import type { Client } from './client.ts'
import { ConnectionError, DockError } from './dock-error.ts'
import { Patience } from './until-reached.ts'

export type ReadOptions = {
  /** First byte. Default: 0. */
  start?: number | undefined
  /** The byte after the last one. Default: the end of the file. */
  end?: number | undefined
  signal?: AbortSignal | undefined
  /** Called with the first response, before its bytes. */
  onOpen?: ((headers: Headers) => void) | undefined
}

/** Returns the header that asks for these bytes. */
export function rangeOf(start: number | undefined, end: number | undefined): Record<string, string> {
  return start === undefined && end === undefined
    ? {}
    : { range: `bytes=${start ?? 0}-${end === undefined ? '' : end - 1}` }
}

/** Returns what the response has: its first byte, and the byte after its last one if the service says so. */
const placeOf = ({ headers }: Response): { from: number; to: number } => {
  const [, from, last] = /^bytes (\d+)-(\d+)\//.exec(headers.get('content-range') ?? '') ?? []
  if (last !== undefined) return { from: Number(from), to: Number(last) + 1 }
  const length = headers.get('content-length')
  return { from: 0, to: length === null ? Number.NaN : Number(length) }
}

const changed = (path: string): DockError =>
  new DockError('file_changed', `${path} changed while it was read. Read it again.`)

/**
 * Yields the bytes. A break is repaired if the service names the version of the file (`ETag`), which includes its size.
 * No header asks for zero bytes, so an empty part is read without a request.
 */
export async function* readFile(
  client: Client,
  params: { id: string },
  path: string,
  { start, end, signal, onOpen }: ReadOptions,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  if (end !== undefined && end <= (start ?? 0)) return
  const patience = new Patience(signal)
  let first: { version: string | null; to: number } | undefined
  let at = start ?? 0
  for (;;) {
    const headers = first ? rangeOf(at, end) : rangeOf(start, end)
    try {
      const response = await client.open('readDockFile', { params, query: { path }, headers, signal })
      const { from, to } = placeOf(response)
      const version = response.headers.get('etag')
      if (!first) onOpen?.(response.headers)
      else if (version !== first.version || from !== at || !Object.is(to, first.to)) throw changed(path)
      first ??= { version, to }
      for await (const bytes of bodyChunks(response, signal)) {
        patience.renew()
        at += bytes.length
        yield bytes
      }
      // Not every runtime reports a body that breaks off.
      if (!(at < first.to)) return
      throw new ConnectionError('The connection broke during the response.', undefined)
    } catch (error) {
      if (!first) throw error
      if (at >= first.to) return
      if (first.version === null) throw error
      // Now it has fewer bytes than were read.
      if ((error as { status?: unknown }).status === 416) throw changed(path)
      await patience.afterFailure(error)
    }
  }
}
