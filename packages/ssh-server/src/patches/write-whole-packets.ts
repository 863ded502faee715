/**
 * Makes ssh2 write each packet at once. It writes three parts: length, content and tag. Without Nagle's algorithm, each
 * would be a system call, a segment, and a wake-up of the client.
 */
import type { Socket } from 'node:net'
import type { Connection } from 'ssh2'
import * as z from 'zod'

type Protocol = { _onWrite(bytes: Buffer): void }
const internals = z.looseObject({
  _protocol: z.custom<Protocol>((value) => typeof Reflect.get(Object(value), '_onWrite') === 'function'),
})

/** Joins what is written in one turn. Call it before keys are exchanged: ssh2's ciphers remember where they write to. */
export function writeWholePackets(client: Connection, socket: Socket): void {
  const { _protocol: protocol } = internals.parse(client)
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
