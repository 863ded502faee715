/**
 * The frames of a process's output: one byte for the kind, four for the length (big endian), then the bytes. A reader
 * passes bytes on as they arrive, so a long frame takes no memory.
 */

/** `end` carries a `processEnd` as JSON. */
export const frameKinds = { stdout: 1, stderr: 2, end: 3 } as const
export type FrameKind = keyof typeof frameKinds

const headerBytes = 5
const endBytesMax = 64 * 1024
const kindOf = new Map<number, FrameKind>(
  Object.entries(frameKinds).map(([kind, number]) => [number, kind as FrameKind]),
)

export function encodeFrame(kind: FrameKind, bytes: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + bytes.length)
  frame.writeUInt8(frameKinds[kind], 0)
  frame.writeUInt32BE(bytes.length, 1)
  bytes.copy(frame, headerBytes)
  return frame
}

/** Reads frames from chunks with arbitrary boundaries. */
export class FrameReader {
  readonly #onOutput: (stream: 'stdout' | 'stderr', bytes: Buffer) => void
  readonly #onEnd: (text: string) => void
  #header = Buffer.alloc(0)
  #kind: FrameKind | undefined
  #left = 0
  #end: Buffer[] = []

  /** `onOutput` gets pieces of frames, `onEnd` the whole text of the last frame. */
  constructor(onOutput: (stream: 'stdout' | 'stderr', bytes: Buffer) => void, onEnd: (text: string) => void) {
    this.#onOutput = onOutput
    this.#onEnd = onEnd
  }

  /** Consumes the next bytes. Throws if they cannot be frames. */
  feed(chunk: Buffer): void {
    for (let rest = chunk; rest.length > 0; ) {
      if (this.#kind === undefined) {
        const taken = Math.min(rest.length, headerBytes - this.#header.length)
        this.#header = Buffer.concat([this.#header, rest.subarray(0, taken)])
        rest = rest.subarray(taken)
        if (this.#header.length < headerBytes) return
        this.#begin()
      } else {
        const piece = rest.subarray(0, this.#left)
        rest = rest.subarray(piece.length)
        this.#left -= piece.length
        this.#take(this.#kind, piece)
      }
      if (this.#kind !== undefined && this.#left === 0) this.#finish()
    }
  }

  #begin(): void {
    const kind = kindOf.get(this.#header.readUInt8(0))
    this.#left = this.#header.readUInt32BE(1)
    this.#header = Buffer.alloc(0)
    if (!kind) throw new Error('a frame of an unknown kind')
    if (kind === 'end' && this.#left > endBytesMax) throw new Error('the last frame is too long')
    this.#kind = kind
  }

  #take(kind: FrameKind, piece: Buffer): void {
    if (kind === 'end') this.#end.push(piece)
    else this.#onOutput(kind, piece)
  }

  #finish(): void {
    if (this.#kind === 'end') this.#onEnd(Buffer.concat(this.#end).toString('utf8'))
    this.#end = []
    this.#kind = undefined
  }
}
