/** The greeting of a new connection. What the guest sent on an earlier one is dropped until its answer to this one. */
import { frameParts } from './frames.ts'
import { GuestViolation, LinkBroken } from './link-errors.ts'
import { endByte, protocol, sizes, types } from './protocol.ts'

/** Zeros complete every half frame that an earlier connection left, which the missing end byte then voids. */
const zeros = Buffer.alloc(sizes.header + sizes.payloadMax + 1)
const welcomePayload = 2 + 2 + sizes.nonce + 4
const welcomeBytes = sizes.header + welcomePayload + 1
const nonceAt = sizes.header + 4
/** What may still be under way of an earlier connection: the guest's queue, and what lies between. */
const earlierBytesMax = 4 * 2 ** 20

export class Welcome {
  isSeen = false
  machineState = 0
  readonly greeting: readonly Buffer[]
  readonly #nonce: Buffer
  #rest: Buffer = Buffer.alloc(0)
  #dropped = 0

  constructor(nonce: Buffer) {
    this.#nonce = nonce
    const versions = Buffer.alloc(4)
    versions.writeUInt16LE(protocol.newest, 0)
    versions.writeUInt16LE(protocol.oldest, 2)
    this.greeting = [zeros, ...frameParts(types.hello, 0, 0, Buffer.concat([versions, nonce]))]
  }

  /** Returns what follows the welcome, or undefined while it has not come. */
  find(chunk: Buffer): Buffer | undefined {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    const at = bytes.indexOf(this.#nonce)
    const begin = at - nonceAt
    if (at < 0 || bytes.length < begin + welcomeBytes) {
      const kept = at < 0 ? welcomeBytes : bytes.length - Math.max(0, begin)
      this.#rest = Buffer.from(bytes.subarray(-kept))
      this.#dropped += chunk.length
      if (this.#dropped > earlierBytesMax) throw new GuestViolation('no welcome')
      return undefined
    }
    if (begin < 0) throw new GuestViolation('half a welcome')
    const frame = bytes.subarray(begin, begin + welcomeBytes)
    const isWelcome =
      frame[0] === types.welcome &&
      frame.readUInt32LE(4) === 0 &&
      frame.readUInt32LE(8) === welcomePayload &&
      frame.at(-1) === endByte
    if (!isWelcome) throw new GuestViolation('no welcome')
    const version = frame.readUInt16LE(sizes.header)
    if (version < protocol.oldest || version > protocol.newest)
      throw new LinkBroken(
        version === 0 ? 'the agent speaks no version that this host knows' : 'an unknown version',
      )
    if (frame.readUInt32LE(nonceAt + sizes.nonce) !== sizes.window) throw new GuestViolation('another window')
    this.machineState = frame.readUInt16LE(sizes.header + 2)
    this.isSeen = true
    this.#rest = Buffer.alloc(0)
    return bytes.subarray(begin + welcomeBytes)
  }
}
