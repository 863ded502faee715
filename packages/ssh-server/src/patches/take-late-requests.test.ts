import { afterEach, expect, it } from 'vitest'
import { exec, idleSession, startTestPair, type TestPair } from '../testing/start-test-pair.ts'

let pair: TestPair
afterEach(() => pair.stop())

it('a signal reaches the program after the end of its input', async () => {
  const signaled = Promise.withResolvers<string>()
  pair = await startTestPair({ requests: { openSession: () => idleSession({ signal: signaled.resolve }) } })
  const channel = await exec(pair.client)
  channel.eof()
  // A channel whose input has ended refuses signals in ssh2's client, too.
  const protocol: unknown = Reflect.get(pair.client, '_protocol')
  Reflect.apply(Reflect.get(Object(protocol), 'signal'), protocol, [0, 'INT'])
  expect(await signaled.promise).toBe('INT')
})
