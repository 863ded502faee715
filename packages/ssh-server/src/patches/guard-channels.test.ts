import { Socket } from 'node:net'
import { createVirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import type { Connection } from 'ssh2'
import { expect, it } from 'vitest'
import { createBufferBudget } from '../buffer-budget.ts'
import { guardChannels } from './guard-channels.ts'

const seconds = 1000
const bytesMax = 100

/** The ends of a connection's one channel, whose program reads nothing. */
const fakeConnection = () => {
  const channel = { incoming: { window: bytesMax }, readableLength: 0 }
  const handlers = {
    CHANNEL_OPEN: () => undefined,
    CHANNEL_OPEN_CONFIRMATION: () => undefined,
    CHANNEL_DATA: (_protocol: unknown, _id: number, bytes: Buffer) => {
      channel.readableLength += bytes.length
    },
    CHANNEL_CLOSE: () => undefined,
  }
  const manager = { _channels: { 0: channel }, remove: () => undefined }
  const protocol = { _handlers: handlers, channelOpenFail: () => undefined }
  return {
    socket: new Socket(),
    client: { _protocol: protocol, _chanMgr: manager } as unknown as Connection,
    receive: (bytes: number) => handlers.CHANNEL_DATA(undefined, 0, Buffer.alloc(bytes)),
  }
}

it('cuts no more connections of a person than it must, although all have waited equally long', () => {
  const clock = createVirtualClock()
  const budget = createBufferBudget(bytesMax)
  const connections = Array.from({ length: 3 }, fakeConnection)
  for (const { client, socket } of connections) {
    guardChannels(client, socket, clock).join((measure) => budget.join('ann', measure))
  }
  for (const { receive } of connections) receive(40)
  for (const { receive } of connections) receive(1)
  const open = (): number => connections.filter(({ socket }) => !socket.destroyed).length
  clock.advance(9 * seconds)
  expect(open()).toBe(3)
  // Each looks again before the event loop can tell that a socket has closed.
  clock.advance(2 * seconds)
  expect(open()).toBe(2)
})
