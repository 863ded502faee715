/**
 * The input of a program in the guest. What the guest has not acknowledged is kept, so that a new connection can send it
 * again.
 */
import { Writable } from 'node:stream'
import { GuestViolation } from './link-errors.ts'
import { sizes } from './protocol.ts'

const pieceBytes = 32_768

export type InputSender = {
  /** False while the connection cannot take more. */
  canSend(): boolean
  data(bytes: Buffer): void
  end(): void
}

export class GuestInput extends Writable {
  readonly #sender: InputSender
  /** Positions: of what the program took, of the first byte that is kept, of the next one to send. */
  #taken = 0
  #kept = 0
  #sent = 0
  #chunks: Buffer[] = []
  #waiting: { bytes: Buffer; done: (error?: Error | null) => void } | undefined
  #isEnding: (() => void) | undefined
  #endSent = false

  constructor(sender: InputSender) {
    super({ highWaterMark: pieceBytes, decodeStrings: true })
    this.#sender = sender
  }

  /** The guest took everything before this position. Throws {@link GuestViolation} if that was never sent. */
  acknowledge(position: number): void {
    if (position < this.#taken || position > this.#sent) throw new GuestViolation('input that was not sent')
    this.#taken = position
    this.#forget(position)
    this.send()
  }

  /** A new connection begins. The guest has everything before `received`, and the program took what is before `taken`. */
  resume(taken: number, received: number, isFirst: boolean): void {
    if (isFirst) {
      this.#taken = taken
      this.#kept = this.#sent = received
    }
    const isPossible =
      this.#taken <= taken && taken <= received && received - taken <= sizes.window && received <= this.#sent
    if (!isPossible || received < this.#kept) throw new GuestViolation('input that was not sent')
    this.#taken = taken
    this.#forget(received)
    this.#sent = received
    for (const chunk of this.#chunks) {
      this.#sent += chunk.length
      for (let at = 0; at < chunk.length; at += pieceBytes)
        this.#sender.data(chunk.subarray(at, at + pieceBytes))
    }
    if (this.#endSent) this.#sender.end()
    this.send()
  }

  /** Sends what the window and the connection allow. */
  send(): void {
    while (this.#waiting && this.#sender.canSend()) {
      const { bytes, done } = this.#waiting
      const room = sizes.window - (this.#sent - this.#taken)
      const piece = bytes.subarray(0, Math.min(room, pieceBytes))
      if (piece.length === 0 && bytes.length > 0) return
      this.#sent += piece.length
      if (piece.length > 0) {
        // A copy: the writer may use its buffer again.
        const kept = Buffer.from(piece)
        this.#chunks.push(kept)
        this.#sender.data(kept)
      }
      const rest = bytes.subarray(piece.length)
      this.#waiting = rest.length > 0 ? { bytes: rest, done } : undefined
      if (!this.#waiting) done()
    }
    if (this.#isEnding && !this.#waiting && this.#sender.canSend()) {
      this.#endSent = true
      this.#sender.end()
      this.#isEnding()
      this.#isEnding = undefined
    }
  }

  override _write(bytes: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    this.#waiting = { bytes, done }
    this.send()
  }

  override _final(done: () => void): void {
    this.#isEnding = done
    this.send()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#waiting = undefined
    this.#isEnding = undefined
    if (!this.#endSent) {
      this.#endSent = true
      this.#sender.end()
    }
    callback(error)
  }

  #forget(position: number): void {
    if (position <= this.#kept) return
    while (this.#chunks.length > 0 && this.#kept + this.#chunks[0]!.length <= position)
      this.#kept += this.#chunks.shift()!.length
    if (position > this.#kept) {
      this.#chunks[0] = this.#chunks[0]!.subarray(position - this.#kept)
      this.#kept = position
    }
  }
}
