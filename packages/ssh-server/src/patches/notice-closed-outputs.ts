/**
 * Notices that a client no longer reads the output of a session, as in `ssh … | head -1`. OpenSSH sends a request for it,
 * eow@openssh.com, to servers that call themselves OpenSSH. ssh2 ignores that request.
 */
import type { Connection, Session } from 'ssh2'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

const outputClosed = 'dock-output-closed'

type Handler = (protocol: object, id: number, type: string, wantsReply: boolean, data: unknown) => void
type Internals = {
  _protocol: { _handlers: { CHANNEL_REQUEST: Handler } }
  _chanMgr: { _channels: Record<string, { type?: string; emit?: (event: string) => boolean } | undefined> }
}
export const closedOutputFields: PrivateFields = {
  usedBy: 'notice-closed-outputs.ts',
  fields: {
    '_protocol._handlers.CHANNEL_REQUEST': ['function', 'lib/server.js'],
    '_chanMgr._channels': ['object', 'lib/utils.js'],
  },
}

/** Makes {@link onOutputClosed} work for the sessions of this connection. */
export function noticeClosedOutputs(client: Connection): void {
  const { _protocol, _chanMgr } = privateFieldsOf<Internals>(client, closedOutputFields)
  const handlers = _protocol._handlers
  const inner = handlers.CHANNEL_REQUEST
  handlers.CHANNEL_REQUEST = (protocol, id, type, wantsReply, data) => {
    const session = _chanMgr._channels[id]
    if (type === 'eow@openssh.com' && session?.type === 'session') session.emit?.(outputClosed)
    inner(protocol, id, type, wantsReply, data)
  }
}

/** Calls `callback` when the client has closed its reading end of the session. */
export function onOutputClosed(session: Session, callback: () => void): void {
  session.on(outputClosed, callback)
}
