import { once } from 'node:events'
import { type Duplex, duplexPair } from 'node:stream'
import ssh2, { type ParsedKey } from 'ssh2'
import { afterEach, expect, it } from 'vitest'
import type { SshChannel } from '../channel.ts'
import { clientKey, exec, idleSession, startTestPair, type TestPair } from '../testing/start-test-pair.ts'

let pair: TestPair
afterEach(() => pair.stop())

/** An agent that knows the client's key, and repeats what programs send it. */
class EchoAgent extends ssh2.BaseAgent<ParsedKey> {
  readonly #key = ssh2.utils.parseKey(clientKey.private) as ParsedKey

  override getIdentities(done: (error: undefined, keys: ParsedKey[]) => void): void {
    done(undefined, [this.#key])
  }

  override sign(_key: ParsedKey, data: Buffer, ...more: unknown[]): void {
    const done = more.findLast((each) => typeof each === 'function')
    done?.(undefined, this.#key.sign(data))
  }

  override getStream(done: (error: undefined, stream: Duplex) => void): void {
    const [outer, inner] = duplexPair()
    inner.pipe(inner)
    done(undefined, outer)
  }
}

it('opens a channel to the agent of the client', async () => {
  const offered = Promise.withResolvers<void>()
  pair = await startTestPair({
    client: { agent: new EchoAgent(), agentForward: true },
    requests: { openSession: () => idleSession({ offerAgent: offered.resolve }) },
  })
  await exec(pair.client)
  await offered.promise
  const channel = await new Promise<SshChannel | null>((resolve) => pair.connection.openAgentChannel(resolve))
  channel?.stdout.write('sign this')
  const [said] = channel ? await once(channel.input, 'data') : []
  expect(String(said)).toBe('sign this')
})

it('a client that offers no agent refuses the channel', async () => {
  pair = await startTestPair()
  expect(await new Promise((resolve) => pair.connection.openAgentChannel(resolve))).toBeNull()
})
