/**
 * Makes ssh2 write each packet at once. It writes three parts: length, content and tag. Without Nagle's algorithm, each
 * would be a system call, a segment, and a wake-up of the client.
 */
import type { Socket } from 'node:net'
import type { Connection } from 'ssh2'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

type Internals = { _protocol: { _onWrite(bytes: Buffer): void } }
export const writeFields: PrivateFields = {
  usedBy: 'write-whole-packets.ts',
  fields: { '_protocol._onWrite': ['function', 'lib/protocol/Protocol.js'] },
}

/** Joins what is written in one turn. Call it before keys are exchanged: ssh2's ciphers remember where they write to. */
export function writeWholePackets(client: Connection, socket: Socket): void {
  const { _protocol: protocol } = privateFieldsOf<Internals>(client, writeFields)
  const write = protocol._onWrite
  let isCorked = false
  const uncork = (): void => {
    isCorked = false
    socket.uncork()
  }
  protocol._onWrite = (bytes) => {
    if (!isCorked) {
      isCorked = true
      socket.cork()
      process.nextTick(uncork)
    }
    write(bytes)
  }
}
