/** Reads a tar: ustar, GNU and pax, as far as they describe files, folders and links. */
import { Buffer } from 'node:buffer'
import { LocalFileError } from '../dock-error.ts'

/** Names and targets are bytes, written as Latin-1. */
export type TarEntry = {
  type: 'file' | 'folder' | 'link' | 'hardlink' | 'other'
  name: string
  target: string
  size: number
  mode: number
  modifiedAt: Date
  /** The bytes of a file. What is not read is skipped. */
  content: () => AsyncGenerator<Uint8Array>
}

const blockBytes = 512
/** Later than any file; larger numbers are no dates. */
const secondsMax = 2 ** 33
/** Records of pax that are read. */
const knownRecords = ['path', 'linkpath', 'size']
/** Names and pax records are read into memory, so they have a limit. */
const namesBytesMax = 64 * 1024

const types: Readonly<Record<string, TarEntry['type']>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'hardlink',
  '2': 'link',
  '5': 'folder',
}

/** Hands out the bytes of a stream in the sizes that are asked for. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Uint8Array = new Uint8Array()
  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Returns the next bytes, at most `max`. Null at the end. */
  async some(max: number): Promise<Uint8Array | null> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done) return null
      this.#rest = value
    }
    const bytes = this.#rest.subarray(0, max)
    this.#rest = this.#rest.subarray(bytes.length)
    return bytes
  }

  async exactly(length: number): Promise<Buffer> {
    const parts: Uint8Array[] = []
    for (let left = length; left > 0; ) {
      const bytes = await this.some(left)
      if (!bytes) throw new LocalFileError('The tar ends too early.')
      parts.push(bytes)
      left -= bytes.length
    }
    return Buffer.concat(parts)
  }

  /** Reads to the end, so that the sender can finish. */
  async drain(): Promise<void> {
    while (await this.some(Number.MAX_SAFE_INTEGER)) {}
  }

  async cancel(): Promise<void> {
    await this.#chunks.return?.()
  }
}

const textOf = (bytes: Buffer): string => {
  const end = bytes.indexOf(0)
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end)
}

const numberOf = (bytes: Buffer): number => {
  // GNU writes large numbers in base 256, marked by the highest bit.
  const isBinary = ((bytes[0] ?? 0) & 0x80) !== 0
  const value = isBinary
    ? bytes.subarray(1).reduce((sum, byte) => sum * 256 + byte, (bytes[0] ?? 0) & 0x3f)
    : Number.parseInt(textOf(bytes).trim() || '0', 8)
  if (!Number.isSafeInteger(value) || value < 0)
    throw new LocalFileError('This is not a tar, or it is damaged.')
  return value
}

/** Reads a size of pax, which is decimal. */
const sizeOf = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new LocalFileError('The tar has a broken record.')
}

const checkSum = (header: Buffer): void => {
  let sum = 0
  for (let at = 0; at < blockBytes; at++) sum += at >= 148 && at < 156 ? 32 : header[at]!
  if (sum !== numberOf(header.subarray(148, 156)))
    throw new LocalFileError('This is not a tar, or it is damaged.')
}

/** Reads the records of pax: `length key=value\n`. */
const paxRecords = (bytes: Buffer): Map<string, string> => {
  const records = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(32, at)
    const length = Number(bytes.toString('latin1', at, space))
    if (space < 0 || !Number.isInteger(length) || length < 1)
      throw new LocalFileError('The tar has a broken record.')
    const record = bytes.toString('latin1', space + 1, at + length - 1)
    const equals = record.indexOf('=')
    const key = record.slice(0, equals)
    if (knownRecords.includes(key)) records.set(key, record.slice(equals + 1))
    at += length
  }
  return records
}

/** Yields the entries of a tar in their order. */
export async function* readTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry, void, undefined> {
  const source = new ByteSource(chunks)
  let more = new Map<string, string>()
  try {
    for (;;) {
      const header = await source.exactly(blockBytes)
      if (header.every((byte) => byte === 0)) break
      checkSum(header)
      const flag = header.toString('latin1', 156, 157)
      const size = more.has('size') ? sizeOf(more.get('size')!) : numberOf(header.subarray(124, 136))
      const padding = (blockBytes - (size % blockBytes)) % blockBytes
      if ('LKxg'.includes(flag)) {
        if (size > namesBytesMax) throw new LocalFileError('The tar has a name that is too long.')
        const bytes = (await source.exactly(size + padding)).subarray(0, size)
        if (flag === 'L') more.set('path', textOf(bytes))
        if (flag === 'K') more.set('linkpath', textOf(bytes))
        if (flag === 'x') more = new Map([...more, ...paxRecords(bytes)])
        continue
      }
      const prefix =
        header.toString('latin1', 257, 263) === 'ustar\0' ? textOf(header.subarray(345, 500)) : ''
      const name = textOf(header.subarray(0, 100))
      let left = size
      const content = async function* (): AsyncGenerator<Uint8Array> {
        while (left > 0) {
          const bytes = await source.some(left)
          if (!bytes) throw new LocalFileError('The tar ends too early.')
          left -= bytes.length
          yield bytes
        }
      }
      yield {
        type: types[flag] ?? 'other',
        name: more.get('path') ?? (prefix === '' ? name : `${prefix}/${name}`),
        target: more.get('linkpath') ?? textOf(header.subarray(157, 257)),
        size,
        mode: numberOf(header.subarray(100, 108)) & 0o777,
        modifiedAt: new Date(Math.min(numberOf(header.subarray(136, 148)), secondsMax) * 1000),
        content,
      }
      for await (const _ of content()) {
        // What the caller has not read.
      }
      await source.exactly(padding)
      more = new Map()
    }
    await source.drain()
  } finally {
    await source.cancel()
  }
}
