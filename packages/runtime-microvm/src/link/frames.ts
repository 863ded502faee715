/** Frames of the link: header, payload, end byte. */
import { GuestViolation } from './link-errors.ts'
import { endByte, sizes } from './protocol.ts'

export type Frame = { type: number; stream: number; channel: number; payload: Buffer }

const endOfFrame = Buffer.from([endByte])

/** Returns the parts of a frame, so that the payload need not be copied. */
export function frameParts(
  type: number,
  stream: number,
  channel: number,
  payload: Buffer,
  flags = 0,
): Buffer[] {
  const header = Buffer.allocUnsafe(sizes.header)
  header[0] = type
  header[1] = stream
  header.writeUInt16LE(flags, 2)
  header.writeUInt32LE(channel, 4)
  header.writeUInt32LE(payload.length, 8)
  return payload.length > 0 ? [header, payload, endOfFrame] : [header, endOfFrame]
}

/**
 * Cuts the guest's bytes into frames. It keeps at most one frame. Throws {@link GuestViolation}; the parser must not be
 * used after that.
 */
export class FrameParser {
  readonly #onFrame: (frame: Frame) => void
  readonly #header = Buffer.allocUnsafe(sizes.header)
  #headerLength = 0
  /** Of the frame that is not whole: payload and end byte. */
  #body: Buffer | undefined
  #bodyLength = 0

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame
  }

  /** Returns how many bytes it took. `isOver` is asked before each frame: if it returns true, the rest is not taken. */
  feed(chunk: Buffer, isOver: () => boolean = () => false): number {
    let at = 0
    while (at < chunk.length && !isOver()) {
      if (this.#headerLength < sizes.header) {
        const taken = chunk.copy(this.#header, this.#headerLength, at, at + sizes.header - this.#headerLength)
        this.#headerLength += taken
        at += taken
        if (this.#headerLength < sizes.header) return at
        if (this.#header.readUInt32LE(8) > sizes.payloadMax) throw new GuestViolation('a frame is too long')
        if (this.#header.readUInt16LE(2) !== 0) throw new GuestViolation('a frame has unknown flags')
      }
      const length = this.#header.readUInt32LE(8) + 1
      if (!this.#body && chunk.length - at >= length) {
        this.#whole(chunk.subarray(at, at + length), chunk.length)
        at += length
        continue
      }
      this.#body ??= Buffer.allocUnsafe(length)
      const taken = chunk.copy(this.#body, this.#bodyLength, at, at + length - this.#bodyLength)
      this.#bodyLength += taken
      at += taken
      if (this.#bodyLength === length) this.#whole(this.#body, length)
    }
    return at
  }

  /** A small part of a large chunk is copied, so that it does not hold the chunk in memory. */
  #whole(body: Buffer, chunkLength: number): void {
    if (body.at(-1) !== endByte) throw new GuestViolation('a frame has no end')
    const payload = body.subarray(0, -1)
    const [type = 0, stream = 0] = this.#header
    const channel = this.#header.readUInt32LE(4)
    this.#headerLength = this.#bodyLength = 0
    this.#body = undefined
    const isSmall = payload.length * 2 < chunkLength
    this.#onFrame({ type, stream, channel, payload: isSmall ? Buffer.from(payload) : payload })
  }
}
