/** A guest for tests that says what the test wants, also what no agent would. */
import { Duplex } from 'node:stream'
import { frameParts } from '../frames.ts'
import { GuestLink, type LinkOptions } from '../guest-link.ts'
import { machineStates, protocol, sizes, types } from '../protocol.ts'

export type HostFrame = { type: number; stream: number; channel: number; payload: Buffer }

/** The guest's end is synchronous: what it says is handled when `say` returns. */
export class FakeGuest {
  readonly heard: HostFrame[] = []
  readonly connection: Duplex
  #bytes: Buffer = Buffer.alloc(0)
  #nonce: Buffer = Buffer.alloc(sizes.nonce)
  #hasGreeted = false
  readonly #version: number

  constructor(version: number = protocol.newest) {
    this.#version = version
    this.connection = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        this.#hear(chunk)
        done()
      },
    })
  }

  /** Says these bytes to the host. */
  raw(bytes: Buffer): void {
    this.connection.emit('data', bytes)
  }

  say(type: number, stream: number, channel: number, payload: Buffer = Buffer.alloc(0)): void {
    this.raw(Buffer.concat(frameParts(type, stream, channel, payload)))
  }

  welcome(
    change: (payload: Buffer) => void = () => undefined,
    version = this.#version,
    state: number = machineStates.runs,
  ): void {
    const payload = Buffer.alloc(4 + sizes.nonce + 4)
    payload.writeUInt16LE(version, 0)
    payload.writeUInt16LE(state, 2)
    this.#nonce.copy(payload, 4)
    payload.writeUInt32LE(sizes.window, 4 + sizes.nonce)
    change(payload)
    this.say(types.welcome, 0, 0, payload)
  }

  /** Connects a host to this guest. */
  async link(options?: LinkOptions): Promise<GuestLink> {
    const connecting = GuestLink.connect(this.connection, options)
    this.welcome()
    return connecting
  }

  /** The last frame of this type that the host sent. */
  last(type: number): HostFrame {
    const found = this.heard.findLast((frame) => frame.type === type)
    if (!found) throw new Error(`the host sent no frame of type ${type}`)
    return found
  }

  #hear(chunk: Buffer): void {
    this.#bytes = this.#bytes.length > 0 ? Buffer.concat([this.#bytes, chunk]) : chunk
    for (;;) {
      // The zeros before a greeting.
      if (!this.#hasGreeted) {
        const at = this.#bytes.indexOf(types.hello)
        this.#bytes = this.#bytes.subarray(at < 0 ? this.#bytes.length : at)
      }
      if (this.#bytes.length < sizes.header) return
      const length = this.#bytes.readUInt32LE(8)
      const whole = sizes.header + length + 1
      if (this.#bytes.length < whole) return
      const [type = 0, stream = 0] = this.#bytes
      const payload = Buffer.from(this.#bytes.subarray(sizes.header, whole - 1))
      if (type === types.hello) {
        this.#hasGreeted = true
        this.#nonce = payload.subarray(4)
      }
      this.heard.push({ type, stream, channel: this.#bytes.readUInt32LE(4), payload })
      this.#bytes = this.#bytes.subarray(whole)
    }
  }
}

/** Returns little-endian numbers of 32 bits as bytes. */
export function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4)
  return bytes
}
