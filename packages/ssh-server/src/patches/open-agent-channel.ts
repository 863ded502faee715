/** Opens channels to the client's SSH agent. ssh2 can open them, but only its client has a method for it. */
import type { Connection, ServerChannel } from 'ssh2'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

const [windowBytes, packetBytes] = [2 * 1024 * 1024, 32 * 1024]
type Opened = (error: Error | undefined, channel: ServerChannel) => void
type Internals = {
  _chanMgr: { add(opened: Opened & { type: string }): number }
  _protocol: { openssh_authAgent(id: number, window: number, packet: number): void }
}
export const agentChannelFields: PrivateFields = {
  usedBy: 'open-agent-channel.ts',
  fields: {
    '_chanMgr.add': ['function', 'lib/utils.js'],
    '_protocol.openssh_authAgent': ['function', 'lib/protocol/Protocol.js'],
  },
}

/** Asks the client for a channel to its agent. */
export function openAgentChannel(client: Connection, opened: Opened): void {
  const { _chanMgr, _protocol } = privateFieldsOf<Internals>(client, agentChannelFields)
  const callback: Opened = (error, channel) => opened(error, channel)
  const id = _chanMgr.add(Object.assign(callback, { type: 'auth-agent@openssh.com' }))
  if (id >= 0) _protocol.openssh_authAgent(id, windowBytes, packetBytes)
}
