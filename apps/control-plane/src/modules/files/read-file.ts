/** GET /v1/docks/:id/files */
import { bytesOfName, limits } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { placeByteRange } from '../hosts/index.ts'
import { limitSlowReader, parseRangeHeader } from '../snapshots/index.ts'
import { timeOf } from './entry.ts'
import { brokenProgram } from './file-failure.ts'
import { beginFileSession, type FileSession } from './file-session.ts'
import type { FilesContext } from './files-context.ts'

export type ReadRequest = {
  path: string
  range: string | undefined
  accept: string | undefined
  isHead: boolean
}

export type FileAnswer = {
  body: ReadableStream<Uint8Array>
  contentType: string
  contentLength?: number
  range?: { size: number; part: { start: number; end: number } | null }
  headers?: Readonly<Record<string, string>>
}

const { stallSeconds, bytesPerSecondMin } = limits.files

/** True if the header names tar itself; the range of all types asks for the bytes of a file. */
const wantsTar = (accept: string | undefined): boolean =>
  accept?.split(',').some((each) => /^\s*application\/x-tar\s*(;|$)/i.test(each)) ?? false

/** Streams what the program writes: `length` bytes, or all. A stream that ends early fails, and the response is cut. */
const streamOf = (session: FileSession, length: number | null): ReadableStream<Uint8Array> => {
  let left = length ?? Number.POSITIVE_INFINITY
  const source = new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const bytes = left > 0 ? await session.readBytes() : null
        if (bytes === null) {
          if (length !== null && left > 0) throw brokenProgram('the file ended early')
          if (length === null) await session.requireSuccess()
          controller.close()
          return
        }
        if (bytes.length > left) throw brokenProgram('the file has more bytes than announced')
        left -= bytes.length
        controller.enqueue(bytes)
      },
      cancel: session.end,
    },
    { highWaterMark: 0 },
  )
  return limitSlowReader(source, session.end, {
    bytesOf: (bytes) => bytes.length,
    stallMs: stallSeconds * 1000,
    bytesPerSecond: bytesPerSecondMin,
  })
}

const nothing = (session: FileSession): ReadableStream<Uint8Array> => {
  session.end()
  return new ReadableStream({ start: (controller) => controller.close() })
}

const numbersIn = (words: readonly string[]): number[] => {
  const numbers = words.map(Number)
  if (numbers.length !== 4 || !numbers.every(Number.isSafeInteger) || numbers[0]! < 0)
    throw brokenProgram(`not a file: ${words.join(' ').slice(0, 200)}`)
  return numbers
}

/** Streams a file, a range of it, or a path as tar. Throws `not_a_regular_file` for a folder without the header. */
export async function readFile(
  context: FilesContext,
  caller: Visitor,
  dockId: string,
  { path, range, accept, isHead }: ReadRequest,
): Promise<FileAnswer> {
  const asTar = wantsTar(accept)
  const wanted = asTar ? null : parseRangeHeader(range)
  const { first, last } = wanted ?? { first: 0 }
  const args = [bytesOfName(path), asTar, isHead, first ?? '', last ?? '']
  const session = await beginFileSession(context, caller, dockId, 'read', args)
  try {
    const [kind, ...words] = await session.readAnswer()
    if (kind === 'tar' && asTar) {
      const body = isHead ? nothing(session) : streamOf(session, null)
      return { body, contentType: 'application/x-tar' }
    }
    if (kind !== 'file' || asTar) throw brokenProgram('neither file nor tar')
    const [size, seconds, inode, mode] = numbersIn(words) as [number, number, number, number]
    const part = wanted ? placeByteRange(wanted, size) : { start: 0, end: size }
    const contentLength = part ? part.end - part.start : 0
    return {
      body: isHead || contentLength === 0 ? nothing(session) : streamOf(session, contentLength),
      contentType: 'application/octet-stream',
      contentLength,
      headers: {
        // Weak: a file that is written in place twice within a second keeps it.
        etag: `W/"${inode}-${size}-${seconds}"`,
        'last-modified': new Date(timeOf(seconds)).toUTCString(),
        'x-dock-mode': (mode & 0o7777).toString(8).padStart(4, '0'),
      },
      ...(wanted ? { range: { size, part } } : {}),
    }
  } catch (error) {
    session.end()
    throw error
  }
}
