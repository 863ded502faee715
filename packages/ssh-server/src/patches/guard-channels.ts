/**
 * Limits what a signed-in client can do to this process through its channels, where ssh2 trusts it: ssh2 loops forever on
 * a channel for packets of 0 bytes, keeps what is sent beyond the window, and remembers sessions in which nothing ran.
 */
import type { Socket } from 'node:net'
import type { Clock } from '@dock/foundation'
import type { Connection } from 'ssh2'
import type { BufferShare, Measure } from '../buffer-budget.ts'
import { type PrivateFields, privateFieldsOf } from './private-fields.ts'

/** Clients offer 16 KiB and more. Tiny packets would cost much more than the bytes that they carry. */
const packetBytesMin = 1024
/** ssh2's code for "resource shortage" (RFC 4254, section 5.1). */
const resourceShortage = 4
/** Bytes of one connection that wait for programs that do not read. Above it, the client's packets wait too. */
const unreadBytesMax = 32 * 1024 * 1024
/** A connection that waits this long is ended: while it waits, it is not noticed if the client leaves. */
const heldMsMax = 10_000
const pollMs = 20

type Protocol = { channelOpenFail(recipient: number, reason: number, text: string): void }
type Handler<Args extends unknown[]> = (protocol: Protocol, ...args: Args) => void
type Opened = { sender: number; packetSize: number }
type Handlers = {
  CHANNEL_OPEN: Handler<[Opened]>
  CHANNEL_OPEN_CONFIRMATION: Handler<[Opened]>
  CHANNEL_DATA: Handler<[number, Buffer]>
  CHANNEL_CLOSE: Handler<[number]>
}
type Channel = { incoming?: { window: number }; readableLength?: number; _channel?: Channel; type?: string }
type Channels = { _channels: Record<string, Channel | undefined>; remove(id: number): void }

type Internals = { _protocol: { _handlers: Handlers }; _chanMgr: Channels }
export const guardFields: PrivateFields = {
  usedBy: 'guard-channels.ts',
  fields: {
    '_protocol._handlers.CHANNEL_OPEN': ['function', 'lib/server.js'],
    '_protocol._handlers.CHANNEL_OPEN_CONFIRMATION': ['function', 'lib/server.js'],
    '_protocol._handlers.CHANNEL_DATA': ['function', 'lib/server.js'],
    '_protocol._handlers.CHANNEL_CLOSE': ['function', 'lib/server.js'],
    '_protocol.channelOpenFail': ['function', 'lib/protocol/Protocol.js'],
    '_chanMgr._channels': ['object', 'lib/utils.js'],
    '_chanMgr.remove': ['function', 'lib/utils.js'],
  },
}

/** The stream of a channel. A session has one only while its program runs. */
const streamOf = (channel: Channel | undefined): Channel | undefined =>
  channel?.type === 'session' && !channel.incoming ? channel._channel : channel

export type ChannelGuard = {
  /** Connects the guarded connection with the budget of the person who has signed in. */
  join(join: (measure: Measure) => BufferShare): BufferShare
  /** True if all connections of that person hold too many bytes. */
  isOverBudget(): boolean
}

/** Call it before the client signs in. */
export function guardChannels(client: Connection, socket: Socket, clock: Clock): ChannelGuard {
  const { _protocol, _chanMgr: manager } = privateFieldsOf<Internals>(client, guardFields)
  const handlers = _protocol._handlers
  const inner = { ...handlers }
  let heldSince: Date | undefined

  const unreadBytes = (): number =>
    Object.values(manager._channels).reduce((sum, each) => sum + (streamOf(each)?.readableLength ?? 0), 0)
  let share: BufferShare | undefined
  const isOverBudget = (): boolean => share?.note() ?? false
  const hasTooMany = (): boolean => {
    const unread = unreadBytes()
    const isOver = isOverBudget()
    return unread > unreadBytesMax || (isOver && unread > 0)
  }
  const release = (): void => {
    if (socket.destroyed) return
    if (!hasTooMany()) {
      heldSince = undefined
      socket.resume()
    } else if (heldSince && clock.now().getTime() - heldSince.getTime() > heldMsMax) socket.destroy()
    else clock.after(pollMs, release)
  }
  const disconnect = (reason: string): never => {
    socket.destroy()
    // Ends the reading of the packets that have arrived already. ssh2 reports it as an error of the connection.
    throw new Error(reason)
  }

  handlers.CHANNEL_OPEN = (protocol, info) => {
    if (info.packetSize >= packetBytesMin) inner.CHANNEL_OPEN(protocol, info)
    else protocol.channelOpenFail(info.sender, resourceShortage, '')
  }
  handlers.CHANNEL_OPEN_CONFIRMATION = (protocol, info) => {
    if (info.packetSize < packetBytesMin) disconnect('a channel for too small packets')
    inner.CHANNEL_OPEN_CONFIRMATION(protocol, info)
  }
  handlers.CHANNEL_DATA = (protocol, id, bytes) => {
    const stream = streamOf(manager._channels[id])
    if (stream?.incoming && bytes.length > stream.incoming.window) disconnect('more bytes than were granted')
    inner.CHANNEL_DATA(protocol, id, bytes)
    if (heldSince || !stream?.readableLength || !hasTooMany()) return
    heldSince = clock.now()
    socket.pause()
    clock.after(pollMs, release)
  }
  handlers.CHANNEL_CLOSE = (protocol, id) => {
    inner.CHANNEL_CLOSE(protocol, id)
    const channel = manager._channels[id]
    if (channel && !streamOf(channel)) manager.remove(id)
  }
  return {
    join: (join) => {
      // A destroyed socket emits `close` only later. If its bytes counted until then, other connections would be cut too.
      share = join(() => (socket.destroyed ? 0 : unreadBytes() + socket.writableLength))
      return share
    },
    isOverBudget,
  }
}
