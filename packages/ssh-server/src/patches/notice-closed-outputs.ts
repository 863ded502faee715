/**
 * Notices that a client no longer reads the output of a session, as in `ssh … | head -1`. OpenSSH sends a request for it,
 * eow@openssh.com, to servers that call themselves OpenSSH. ssh2 ignores that request.
 */
import type { Connection } from 'ssh2'
import * as z from 'zod'

/** The event of a session whose client has closed its reading end. */
export const outputClosed = 'dock-output-closed'

type Handlers = {
  CHANNEL_REQUEST(protocol: object, id: number, type: string, wantsReply: boolean, data: unknown): void
}
type Session = { type?: string; emit?: (event: string) => boolean }
const internals = z.looseObject({
  _protocol: z.looseObject({
    _handlers: z.custom<Handlers>(
      (value) => typeof Reflect.get(Object(value), 'CHANNEL_REQUEST') === 'function',
    ),
  }),
  _chanMgr: z.looseObject({ _channels: z.custom<Record<string, Session | undefined>>() }),
})

/** Makes sessions of this connection emit {@link outputClosed}. */
export function noticeClosedOutputs(client: Connection): void {
  const { _protocol, _chanMgr } = internals.parse(client)
  const handlers = _protocol._handlers
  const inner = handlers.CHANNEL_REQUEST
  handlers.CHANNEL_REQUEST = (protocol, id, type, wantsReply, data) => {
    const session = _chanMgr._channels[id]
    if (type === 'eow@openssh.com' && session?.type === 'session') session.emit?.(outputClosed)
    inner(protocol, id, type, wantsReply, data)
  }
}
