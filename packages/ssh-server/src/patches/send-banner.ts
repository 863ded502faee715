/**
 * Tells a client something while it signs in: SSH_MSG_USERAUTH_BANNER (RFC 4252, section 5.4), which OpenSSH prints and
 * editors log. Unlike the text of a refused session, it leaves the client free to offer its next key.
 */
import type { Connection } from 'ssh2'
import { createPacketSender, textField } from './packet-sender.ts'

const banner = Buffer.from([53])

/** Returns a function that sends one line. Call that before the attempt is refused. */
export function createAuthRemark(client: Connection): (line: string) => void {
  const send = createPacketSender(client)
  return (line) => send(banner, textField(`${line}\r\n`), textField(''))
}
