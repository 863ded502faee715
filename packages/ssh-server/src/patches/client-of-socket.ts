/** Finds out which client of ssh2 belongs to which socket. ssh2's event `connection` tells only the address. */
import type { Socket } from 'node:net'
import type ssh2 from 'ssh2'
import type { Connection } from 'ssh2'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

export const clientSocketField: PrivateFields = {
  usedBy: 'client-of-socket.ts',
  fields: { _sock: ['object', 'lib/server.js'] },
}

/**
 * Returns a function that gives a socket to ssh2. It calls `onClient` when the client has said which version it speaks,
 * before its first packet is processed.
 */
export function createSocketReceiver(
  server: ssh2.Server,
): (socket: Socket, onClient: (client: Connection) => void) => void {
  const expected = new WeakMap<object, (client: Connection) => void>()
  server.on('connection', (client: Connection) => {
    const { _sock: socket } = privateFieldsOf<{ _sock: Socket }>(client, clientSocketField)
    expected.get(socket)?.(client)
  })
  return (socket, onClient) => {
    expected.set(socket, onClient)
    server.injectSocket(socket)
  }
}
