import { afterEach, expect, it } from 'vitest'
import type { SshChannel } from '../channel.ts'
import { exec, idleSession, startTestPair, type TestPair } from '../testing/start-test-pair.ts'

let pair: TestPair
afterEach(() => pair.stop())

/** Counts the system calls with which a stream of Node writes one part, or several. */
const countWrites = (stream: object): { _write: number; _writev: number } => {
  const counts = { _write: 0, _writev: 0 }
  for (const name of ['_write', '_writev'] as const) {
    const write: unknown = Reflect.get(stream, name)
    Reflect.set(stream, name, (...args: unknown[]) => {
      counts[name] += 1
      return Reflect.apply(Object(write), stream, args)
    })
  }
  return counts
}

it('length, content and tag of a packet are one write', async () => {
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
  const channel = await opened.promise
  const counts = countWrites(pair.socket)
  channel.stdout.write('three parts')
  await new Promise((resolve) => received.once('data', resolve))
  expect(counts).toEqual({ _write: 0, _writev: 1 })
})
