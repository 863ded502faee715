/** Sends packets for which ssh2 has no method. */
import type { Connection } from 'ssh2'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

/** A packet begins with its length and the length of its padding. */
const contentOffset = 5

type Internals = {
  _protocol: { _cipher: { allocPacket(contentBytes: number): Buffer; encrypt(packet: Buffer): void } }
}
export const packetFields: PrivateFields = {
  usedBy: 'send-packet.ts',
  fields: {
    '_protocol._cipher.allocPacket': ['function', 'lib/protocol/crypto.js'],
    '_protocol._cipher.encrypt': ['function', 'lib/protocol/crypto.js'],
  },
}

/** Returns a function that sends the parts as one packet, beginning with its type. */
export function createPacketSender(client: Connection): (...parts: Buffer[]) => void {
  const { _protocol: protocol } = privateFieldsOf<Internals>(client, packetFields)
  return (...parts) => {
    const content = Buffer.concat(parts)
    // Read at each call: ssh2 makes a new cipher for new keys.
    const cipher = protocol._cipher
    const packet = cipher.allocPacket(content.length)
    content.copy(packet, contentOffset)
    cipher.encrypt(packet)
  }
}
