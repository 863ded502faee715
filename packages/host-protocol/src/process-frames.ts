/**
 * The frames of a process's streams: one byte for the kind, four for the length (big endian), then the bytes. A reader
 * passes bytes on as they arrive, so a long frame takes no memory. Each direction ends with a frame of its own, because
 * the end of the connection may also mean that a program at its other end was killed.
 */
import type { Writable } from 'node:stream'

/**
 * `end` is the last frame of a direction. Downwards it carries a `processEnd` as JSON, upwards nothing. `closeStdout`,
 * which is empty, goes upwards: nobody reads the program's output any more. The program gets SIGPIPE when it writes.
 */
export const frameKinds = { stdout: 1, stderr: 2, end: 3, stdin: 4, closeStdout: 5 } as const
export type FrameKind = keyof typeof frameKinds

const headerBytes = 5
const endBytesMax = 64 * 1024
const kindOf = new Map<number, FrameKind>(
  Object.entries(frameKinds).map(([kind, number]) => [number, kind as FrameKind]),
)

export function encodeFrame(kind: FrameKind, bytes: Buffer): Buffer {
  return Buffer.concat([encodeHeader(kind, bytes.length), bytes])
}

const encodeHeader = (kind: FrameKind, length: number): Buffer => {
  const header = Buffer.allocUnsafe(headerBytes)
  header.writeUInt8(frameKinds[kind], 0)
  header.writeUInt32BE(length, 1)
  return header
}

/** Writes one frame without copying its bytes. Returns false if the caller should wait for `drain`. */
export function writeFrame(
  to: Writable,
  kind: FrameKind,
  pieces: readonly Buffer[],
  callback?: (error?: Error | null) => void,
): boolean {
  const last = pieces.at(-1) ?? Buffer.alloc(0)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  to.cork()
  to.write(encodeHeader(kind, length))
  for (const piece of pieces.slice(0, -1)) to.write(piece)
  const hasRoom = to.write(last, callback)
  to.uncork()
  return hasRoom
}

/** The kinds that this end accepts. They get pieces of frames as they arrive; `end` gets its whole text. */
export type FrameHandlers = Partial<
  Record<Exclude<FrameKind, 'end' | 'closeStdout'>, (piece: Buffer) => void>
> & {
  closeStdout?: () => void
  end: (text: string) => void
}

/** Reads frames from chunks with arbitrary boundaries. */
export class FrameReader {
  readonly #handlers: FrameHandlers
  #header: Buffer = Buffer.alloc(0)
  #kind: FrameKind | undefined
  #left = 0
  #end: Buffer[] = []

  constructor(handlers: FrameHandlers) {
    this.#handlers = handlers
  }

  /** Consumes the next bytes. Throws if they cannot be frames that this end accepts. */
  feed(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#kind === undefined) {
        const taken = Math.min(rest.length, headerBytes - this.#header.length)
        const piece = rest.subarray(0, taken)
        this.#header = this.#header.length === 0 ? piece : Buffer.concat([this.#header, piece])
        rest = rest.subarray(taken)
        if (this.#header.length < headerBytes) return
        this.#begin()
      } else {
        const piece = rest.subarray(0, this.#left)
        rest = rest.subarray(piece.length)
        this.#left -= piece.length
        if (this.#kind === 'end') this.#end.push(piece)
        else if (this.#kind !== 'closeStdout') this.#handlers[this.#kind]?.(piece)
      }
      if (this.#kind !== undefined && this.#left === 0) this.#finish()
    }
  }

  #begin(): void {
    const kind = kindOf.get(this.#header.readUInt8(0))
    this.#left = this.#header.readUInt32BE(1)
    this.#header = Buffer.alloc(0)
    if (!kind || !this.#handlers[kind]) throw new Error('a frame of an unknown kind')
    if (kind === 'closeStdout' && this.#left > 0) throw new Error('a frame of the wrong length')
    if (kind === 'end' && this.#left > endBytesMax) throw new Error('the last frame is too long')
    this.#kind = kind
  }

  #finish(): void {
    if (this.#kind === 'end') this.#handlers.end(Buffer.concat(this.#end).toString('utf8'))
    if (this.#kind === 'closeStdout') this.#handlers.closeStdout?.()
    this.#end = []
    this.#kind = undefined
  }
}
