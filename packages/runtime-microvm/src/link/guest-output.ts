/** An output of a program in the guest. What the reader has not taken stays within the window, whatever the guest does. */
import { Readable } from 'node:stream'
import { GuestViolation } from './link-errors.ts'
import { sizes } from './protocol.ts'

/** Chunks below this size are put together, so that many tiny ones take no more memory than their bytes. */
const smallBytes = 4096
const slabBytes = 16_384

export class GuestOutput extends Readable {
  /** Positions in the stream: what arrived, what the reader took, what the guest knows to be taken. */
  received = 0
  taken = 0
  acknowledged = 0
  hasEnded = false
  readonly #acknowledge: (position: number) => boolean
  readonly #unwanted: () => void
  readonly #queue: Buffer[] = []
  #slab: Buffer | undefined
  #slabLength = 0
  #isWanted = false

  /** `acknowledge` returns false if it could not send. `unwanted` is called if the reader destroys the stream before its end. */
  constructor(acknowledge: (position: number) => boolean, unwanted: () => void) {
    super({ highWaterMark: sizes.payloadMax })
    this.#acknowledge = acknowledge
    this.#unwanted = unwanted
  }

  /** Takes the position up that the guest continues from. */
  startAt(position: number): void {
    this.received = this.taken = this.acknowledged = position
  }

  /** Throws {@link GuestViolation} if the guest sent what it must not. */
  add(bytes: Buffer): void {
    if (bytes.length === 0 || this.hasEnded) throw new GuestViolation('output after its end')
    this.received += bytes.length
    if (this.received - this.acknowledged > sizes.window) throw new GuestViolation('more output than allowed')
    if (this.destroyed) this.taken = this.received
    else this.#enqueue(bytes)
    this.#hand()
  }

  /** Throws {@link GuestViolation} if it has ended before. */
  endByGuest(): void {
    if (this.hasEnded) throw new GuestViolation('an output ended twice')
    this.hasEnded = true
    this.#hand()
  }

  override _read(): void {
    this.#isWanted = true
    this.#hand()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#queue.length = 0
    this.#slab = undefined
    this.#slabLength = 0
    this.taken = this.received
    if (!this.hasEnded) this.#unwanted()
    callback(error)
  }

  #enqueue(bytes: Buffer): void {
    if (bytes.length >= smallBytes || (this.#isWanted && this.#isEmpty)) {
      this.#sealSlab()
      this.#queue.push(bytes)
      return
    }
    if (this.#slabLength + bytes.length > slabBytes) this.#sealSlab()
    this.#slab ??= Buffer.allocUnsafe(slabBytes)
    bytes.copy(this.#slab, this.#slabLength)
    this.#slabLength += bytes.length
  }

  get #isEmpty(): boolean {
    return this.#queue.length === 0 && this.#slabLength === 0
  }

  #sealSlab(): void {
    if (this.#slab && this.#slabLength > 0) this.#queue.push(this.#slab.subarray(0, this.#slabLength))
    this.#slab = undefined
    this.#slabLength = 0
  }

  /** Gives the reader what it wants. */
  #hand(): void {
    while (this.#isWanted && !this.#isEmpty && !this.destroyed) {
      if (this.#queue.length === 0) this.#sealSlab()
      const chunk = this.#queue.shift()!
      this.taken += chunk.length
      this.#isWanted = this.push(chunk)
    }
    if (this.hasEnded && this.#isEmpty && !this.destroyed) this.push(null)
    this.acknowledge()
  }

  /** Tells the guest what was taken, if that is worth a frame. */
  acknowledge(): void {
    if (this.taken - this.acknowledged < sizes.window / 4 || this.hasEnded) return
    if (this.#acknowledge(this.taken)) this.acknowledged = this.taken
  }
}
