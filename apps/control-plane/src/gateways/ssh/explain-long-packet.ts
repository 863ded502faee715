/** Tells a client that its packet was too long for this connection. ssh2 disconnects without a text. */
import type { Connection } from 'ssh2'
import * as z from 'zod'

/** The message of ssh2's error about a packet that it does not take. */
const notTaken = 'Bad packet length'
const text = Buffer.from(
  'a packet is too long: this cipher allows 35000 bytes; use aes128-gcm@openssh.com, or send a long script as input',
)
const disconnectType = 1
/** RFC 4253, section 11.1. */
const protocolError = 2
/** A packet begins with its length and the length of its padding. */
const contentOffset = 5

// The parts of ssh2's objects that this file uses. They are not in its types, so they are checked at run time.
type Cipher = { allocPacket(contentBytes: number): Buffer; encrypt(packet: Buffer): void }
const internals = z.looseObject({
  _protocol: z.custom<{ _cipher: Cipher }>((value) => {
    const { allocPacket, encrypt } = Object(Reflect.get(Object(value), '_cipher')) as Partial<Cipher>
    return typeof allocPacket === 'function' && typeof encrypt === 'function'
  }, 'ssh2 has changed: explain-long-packet.ts no longer fits it'),
})

/** Returns a function for the errors of this connection. It does nothing for other errors. */
export function explainLongPacket(client: Connection): (error: Error) => void {
  const { _protocol: protocol } = internals.parse(client)
  return ({ message }) => {
    if (message !== notTaken) return
    const head = Buffer.alloc(9)
    head[0] = disconnectType
    head.writeUInt32BE(protocolError, 1)
    head.writeUInt32BE(text.length, 5)
    const noLanguage = Buffer.alloc(4)
    const content = Buffer.concat([head, text, noLanguage])
    const packet = protocol._cipher.allocPacket(content.length)
    content.copy(packet, contentOffset)
    protocol._cipher.encrypt(packet)
  }
}
