/** Clients that want to harm the process of the server, with a real connection. */
import { once } from 'node:events'
import type { ClientChannel } from 'ssh2'
import { afterEach, expect, it } from 'vitest'
import { exec, startTestPair, type TestPair } from '../testing/start-test-pair.ts'

let pair: TestPair
afterEach(() => pair.stop())

const inside = (owner: object, name: string): object => Object(Reflect.get(owner, name))
const callProtocol = (method: string, ...args: unknown[]): void => {
  const protocol = inside(pair.client, '_protocol')
  Reflect.apply(Reflect.get(protocol, method), protocol, args)
}
const openChannels = (): number => Object.keys(inside(inside(pair.peer, '_chanMgr'), '_channels')).length

it.each([0, 1, 1023])(
  'no channel opens for packets of %i bytes, for which ssh2 loops or works in vain',
  async (bytes) => {
    pair = await startTestPair()
    const outcome = Promise.withResolvers<string>()
    for (const name of ['CHANNEL_OPEN_CONFIRMATION', 'CHANNEL_OPEN_FAILURE'])
      Reflect.set(inside(inside(pair.client, '_protocol'), '_handlers'), name, () => outcome.resolve(name))
    callProtocol('session', 0, 2 ** 20, bytes)
    expect(await outcome.promise).toBe('CHANNEL_OPEN_FAILURE')
    expect(openChannels()).toBe(0)
  },
)

it('a client that sends more than it was granted is disconnected', async () => {
  pair = await startTestPair()
  const channel = (await exec(pair.client)) as ClientChannel & { outgoing: { window: number } }
  channel.on('error', () => undefined)
  const closed = once(pair.socket, 'close')
  channel.outgoing.window = Number.MAX_SAFE_INTEGER
  // No divisor of the window: ssh2 itself drops what arrives when exactly nothing is left.
  for (let at = 0; at < 300; at += 1) channel.write(Buffer.alloc(30_001))
  await closed
  expect(pair.errors.map(({ message }) => message)).toContain('more bytes than were granted')
})

it('a session in which nothing ran leaves no trace', async () => {
  pair = await startTestPair()
  const confirmed = new Promise((resolve) =>
    Reflect.set(inside(inside(pair.client, '_protocol'), '_handlers'), 'CHANNEL_OPEN_CONFIRMATION', resolve),
  )
  callProtocol('session', 0, 2 ** 20, 2 ** 15)
  await confirmed
  expect(openChannels()).toBe(1)
  callProtocol('channelClose', 0)
  await expect.poll(openChannels).toBe(0)
})
