/** Sends packets for which ssh2 has no method. */
import type { Connection } from 'ssh2'
import * as z from 'zod'

/** A packet begins with its length and the length of its padding. */
const contentOffset = 5

// The parts of ssh2's objects that this file uses. They are not in its types, so they are checked at run time.
type Cipher = { allocPacket(contentBytes: number): Buffer; encrypt(packet: Buffer): void }
const internals = z.looseObject({
  _protocol: z.custom<{ _cipher: Cipher }>((value) => {
    const { allocPacket, encrypt } = Object(Reflect.get(Object(value), '_cipher')) as Partial<Cipher>
    return typeof allocPacket === 'function' && typeof encrypt === 'function'
  }, 'ssh2 has changed: packet-sender.ts no longer fits it'),
})

/** Returns a function that sends the parts as one packet, beginning with its type. */
export function createPacketSender(client: Connection): (...parts: Buffer[]) => void {
  const { _protocol: protocol } = internals.parse(client)
  return (...parts) => {
    const content = Buffer.concat(parts)
    const packet = protocol._cipher.allocPacket(content.length)
    content.copy(packet, contentOffset)
    protocol._cipher.encrypt(packet)
  }
}

/** Returns a text in SSH's format: its length, then its bytes. */
export function textField(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
