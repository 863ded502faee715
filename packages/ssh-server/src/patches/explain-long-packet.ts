/** Tells a client that its packet was too long for this connection. ssh2 disconnects without a text. */
import type { Connection } from 'ssh2'
import { bytesOfString } from '../keys/ssh-reader.ts'
import { createPacketSender } from './send-packet.ts'

/** The message of ssh2's error about a packet that is too long. */
export const tooLongMessage = 'Bad packet length'
const text =
  'a packet is too long: this cipher allows 35000 bytes; use aes128-gcm@openssh.com, or send a long script as input'
/** SSH_MSG_DISCONNECT for a protocol error (RFC 4253, section 11.1). */
const disconnect = Buffer.from([1, 0, 0, 0, 2])
const noLanguage = bytesOfString(Buffer.alloc(0))

/** Returns a function for the errors of this connection. It does nothing for other errors. */
export function createPacketExplainer(client: Connection): (error: Error) => void {
  const send = createPacketSender(client)
  return ({ message }) => {
    if (message === tooLongMessage) send(disconnect, bytesOfString(Buffer.from(text)), noLanguage)
  }
}
