/** Reads the output of a process by offset, so that a broken connection neither loses nor repeats a byte. */
import { bodyChunks, collect, linesOf } from './body-chunks.ts'
import type { Client } from './client.ts'
import { OutputLostError } from './dock-error.ts'
import { Patience, patienceMs } from './until-reached.ts'

export type OutputName = 'stdout' | 'stderr'

export type ProcessPlace = { id: string; pid: string }

export type OutputOptions = {
  /** Offset of the first byte. Default: the first one that is kept. */
  offset?: number | undefined
  /** False: only what has been written so far. Default: true. */
  follow?: boolean | undefined
  signal?: AbortSignal | undefined
}

/** A piece of output. `offset` is that of its first byte in its stream. */
export type OutputChunk = { stream: OutputName; offset: number; data: Uint8Array<ArrayBuffer> }

const bytesOfBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))

/** Where the reader is in one stream. */
type Position = { at: number; isFixed: boolean }

/** Returns the bytes that the reader does not have. Throws if there are missing ones before them. */
const newBytes = (name: OutputName, position: Position, offset: number, data: Uint8Array<ArrayBuffer>) => {
  if (offset > position.at && position.isFixed)
    throw new OutputLostError(
      `Bytes ${position.at} to ${offset} of ${name} are no longer kept. Read from offset ${offset} on, and read faster.`,
    )
  const fresh = data.subarray(Math.max(0, position.at - offset))
  const start = Math.max(offset, position.at)
  position.at = start + fresh.length
  position.isFixed = true
  return { offset: start, data: fresh }
}

type Reading = { client: Client; params: ProcessPlace; signal: AbortSignal | undefined }

/** Returns true if the reader has everything that will ever be in these streams. */
const isComplete = async ({ client, params, signal }: Reading, positions: Map<OutputName, Position>) => {
  const process = await client.call('readDockProcess', { params, signal })
  return [...positions].every(([name, { at }]) => {
    const output = process[name]
    return output === null || (!output.open && at >= output.endOffset)
  })
}

const positionOf = (offset: number | undefined): Position => ({
  at: offset ?? 0,
  isFixed: offset !== undefined,
})

/**
 * Repeats `read` until everything was read. `read` reports when its response has begun: runtimes end a response that is
 * silent for minutes, and a program may be silent for hours.
 */
async function* resumed(
  reading: Reading,
  positions: Map<OutputName, Position>,
  follow: boolean,
  read: (begun: () => void) => AsyncGenerator<OutputChunk>,
): AsyncGenerator<OutputChunk, void, undefined> {
  const patience = new Patience(reading.signal)
  for (;;) {
    let begunAt = Number.POSITIVE_INFINITY
    try {
      const chunks = read(() => {
        begunAt = Date.now()
      })
      for await (const chunk of chunks) {
        patience.renew()
        if (chunk.data.length > 0) yield chunk
      }
      // Not every runtime reports a body that breaks off, so its end alone proves nothing.
      if (!follow || (await isComplete(reading, positions))) return
    } catch (error) {
      if (Date.now() - begunAt > patienceMs) patience.renew()
      await patience.afterFailure(error)
    }
  }
}

/** Yields the bytes of one stream. */
export function readOutput(
  client: Client,
  params: ProcessPlace,
  stream: OutputName,
  { offset, follow = true, signal }: OutputOptions = {},
): AsyncGenerator<OutputChunk, void, undefined> {
  const position = positionOf(offset)
  const read = async function* (begun: () => void): AsyncGenerator<OutputChunk> {
    const query = { stream, offset: position.at, follow }
    const response = await client.open('readDockProcessOutput', { params, query, signal })
    begun()
    let at = Number(response.headers.get('x-dock-start-offset') ?? position.at)
    for await (const data of bodyChunks(response, signal)) {
      yield { stream, ...newBytes(stream, position, at, data) }
      at += data.length
    }
  }
  return resumed({ client, params, signal }, new Map([[stream, position]]), follow, read)
}

type Line = { stream: OutputName; offset: number; data?: string }

/** Yields the bytes of both streams in the order of their arrival at the service. */
export function readBothOutputs(
  client: Client,
  params: ProcessPlace,
  { offset, stderrOffset, follow = true, signal }: OutputOptions & { stderrOffset?: number | undefined } = {},
): AsyncGenerator<OutputChunk, void, undefined> {
  const stdout = positionOf(offset)
  const stderr = positionOf(stderrOffset)
  const positions = new Map<OutputName, Position>([
    ['stdout', stdout],
    ['stderr', stderr],
  ])
  const read = async function* (begun: () => void): AsyncGenerator<OutputChunk> {
    const query = { stream: 'both' as const, offset: stdout.at, stderrOffset: stderr.at, follow }
    const response = await client.open('readDockProcessOutput', { params, query, signal })
    begun()
    for await (const text of linesOf(bodyChunks(response, signal), Number.POSITIVE_INFINITY)) {
      const line = parsed(text)
      if (line?.data === undefined) continue
      const { stream, offset: at, data } = line
      yield { stream, ...newBytes(stream, stream === 'stdout' ? stdout : stderr, at, bytesOfBase64(data)) }
    }
  }
  return resumed({ client, params, signal }, positions, follow, read)
}

/** Returns null for a line that broke off with the connection. */
const parsed = (text: string): Line | null => {
  try {
    return JSON.parse(text) as Line
  } catch {
    return null
  }
}

/** One output of a process. Each iteration reads it from the start of what was asked for. */
export class ProcessOutputReader implements AsyncIterable<Uint8Array<ArrayBuffer>> {
  readonly #chunks: (options: OutputOptions) => AsyncIterable<OutputChunk>
  constructor(chunks: (options: OutputOptions) => AsyncIterable<OutputChunk>) {
    this.#chunks = chunks
  }

  /** Yields the bytes as they come, until the output ends. */
  async *bytes(options: OutputOptions = {}): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    for await (const { data } of this.#chunks(options)) yield data
  }

  /** Yields the lines of text as they come. */
  lines(options: OutputOptions = {}): AsyncGenerator<string, void, undefined> {
    return linesOf(this.bytes(options))
  }

  /** Returns all of it as text, at its end. */
  async text(options: OutputOptions = {}): Promise<string> {
    return new TextDecoder().decode(await collect(this.bytes(options)))
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
    return this.bytes()
  }
}
