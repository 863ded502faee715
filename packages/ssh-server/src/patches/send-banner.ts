/**
 * Tells a client something while it signs in: SSH_MSG_USERAUTH_BANNER (RFC 4252, section 5.4), which OpenSSH prints and
 * editors log. Unlike the text of a refused session, it leaves the client free to offer its next key. ssh2 sends a banner
 * only at the start, the same to everybody.
 */
import type { Connection } from 'ssh2'
import { bytesOfString } from '../keys/ssh-reader.ts'
import { createPacketSender } from './send-packet.ts'

const bannerType = Buffer.from([53])
const noLanguage = bytesOfString(Buffer.alloc(0))

/** Returns a function that sends one line. Call that before the attempt is refused. */
export function createBannerSender(client: Connection): (line: string) => void {
  const send = createPacketSender(client)
  return (line) => send(bannerType, bytesOfString(Buffer.from(`${line}\r\n`)), noLanguage)
}
