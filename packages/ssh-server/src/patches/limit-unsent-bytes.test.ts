import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import type { SshChannel } from '../channel.ts'
import { exec, idleSession, startTestPair, type TestPair } from '../testing/start-test-pair.ts'

let pair: TestPair
afterEach(() => pair.stop())

const open = async (): Promise<SshChannel> => {
  const opened = Promise.withResolvers<SshChannel>()
  pair = await startTestPair({
    requests: {
      openSession: () =>
        idleSession({
          start: (_program, accept) => {
            opened.resolve(accept())
            return true
          },
        }),
    },
  })
  const received = await exec(pair.client)
  received.resume()
  return opened.promise
}

it('few packets wait in memory while a client does not end an exchange of keys', async () => {
  const channel = await open()
  const socket: Socket = Object(Reflect.get(pair.client, '_sock'))
  socket.pause()
  pair.peer.rekey()
  let written = 0
  const write = (): void => {
    if (written < 10_000) channel.stdout.write(Buffer.alloc(100), write)
    written += 1
  }
  write()
  const queue = (): unknown[] =>
    Reflect.get(Object(Reflect.get(pair.peer, '_protocol')), '_queue') as unknown[]
  await expect.poll(() => queue().length).toBeGreaterThan(64)
  // Long enough for thousands of writes.
  await delay(200)
  expect(queue().length).toBeLessThan(70)
  socket.resume()
  await expect.poll(() => written).toBeGreaterThan(9_999)
})
