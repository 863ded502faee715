/** Requests of HTTP/1.1 as the bytes that are written to a socket. */
import type { Random } from './random.ts'

/** `damaged` is chunked, with a chunk that breaks the rules. `short` announces more bytes than it has. */
export type Framing = 'length' | 'chunked' | 'damaged' | 'short'

export type RawRequest = {
  method: string
  path: string
  headers?: Record<string, string>
  /** Undefined: the request has no body. */
  body?: { bytes: Buffer; framing: Framing } | undefined
  /** Written after the response has switched the protocol. */
  frames?: readonly Buffer[]
  /** True if the response has no end of its own. */
  isEndless?: boolean
  host?: string
}

const damages = [
  'zz\r\nabc\r\n',
  '-1\r\n',
  'fffffffffffffffff\r\n',
  '5\r\nabcdefghij\r\n',
  '5;\0=\r\nabcde\r\n',
  '\r\n\r\n',
]

const chunksOf = (bytes: Buffer, random: Random): Buffer[] => {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const piece = bytes.subarray(at, at + 1 + random.below(40_000))
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'))
    at += piece.length
  }
  return pieces
}

const bodyOf = ({ body }: RawRequest, random: Random): { header: string[]; bytes: Buffer } => {
  if (!body) return { header: [], bytes: Buffer.alloc(0) }
  const { bytes, framing } = body
  if (framing === 'length') return { header: [`content-length: ${bytes.length}`], bytes }
  if (framing === 'short')
    return { header: [`content-length: ${bytes.length + 1 + random.below(10_000)}`], bytes }
  const pieces = chunksOf(bytes, random)
  if (framing === 'damaged')
    pieces.splice(3 * random.below(pieces.length / 3 + 1), pieces.length, Buffer.from(random.pick(damages)))
  else pieces.push(Buffer.from('0\r\n\r\n'))
  return { header: ['transfer-encoding: chunked'], bytes: Buffer.concat(pieces) }
}

/** Returns the bytes of the head and of the body. */
export function bytesOf(
  request: RawRequest,
  random: Random,
  options: { isHead: boolean; closes: boolean },
): { head: Buffer; body: Buffer } {
  const { method, path, headers = {}, host = '127.0.0.1', frames } = request
  const { header, bytes } = bodyOf(request, random)
  const lines = [
    `${options.isHead ? 'HEAD' : method} ${path} HTTP/1.1`,
    `host: ${host}`,
    ...(frames === undefined ? [`connection: ${options.closes ? 'close' : 'keep-alive'}`] : []),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...header,
  ]
  return { head: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body: bytes }
}
