import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import type { SshChannel } from './channel.ts'
import { exec, idleSession, startTestPair, type TestPair } from './testing/start-test-pair.ts'

let pair: TestPair
afterEach(() => pair.stop())

const open = async () => {
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
  return { received, channel: await opened.promise }
}

const sha256 = (...chunks: Buffer[]): string =>
  chunks.reduce((hash, chunk) => hash.update(chunk), createHash('sha256')).digest('hex')

it('both outputs arrive unchanged, although more waits for the window than it holds', async () => {
  const { received, channel } = await open()
  const outputs = [randomBytes(7_000_001), randomBytes(7_000_003)] as const
  const arrived: [Buffer[], Buffer[]] = [[], []]
  received.on('data', (bytes: Buffer) => void arrived[0].push(bytes))
  received.stderr.on('data', (bytes: Buffer) => void arrived[1].push(bytes))
  const write = async (at: 0 | 1): Promise<void> => {
    const to = [channel.stdout, channel.stderr][at]!
    const bytes = outputs[at]
    for (let start = 0; start < bytes.length; start += 50_000)
      if (!to.write(bytes.subarray(start, start + 50_000))) await once(to, 'drain')
    await new Promise((resolve) => to.end(resolve))
  }
  await Promise.all([write(0), write(1)])
  channel.exit({ exitCode: 0, signal: null })
  await once(received, 'close')
  expect(arrived.map((chunks) => sha256(...chunks))).toEqual(outputs.map((bytes) => sha256(bytes)))
})

describe('the end of a program', () => {
  it.each([
    [{ exitCode: 7, signal: null }, 7, undefined],
    [{ exitCode: null, signal: 'TERM' }, null, 'SIGTERM'],
    // SSH has no name for it.
    [{ exitCode: null, signal: 'STKFLT' }, 128, undefined],
    [{ exitCode: null, signal: null }, 255, undefined],
  ])('%o is reported as %s %s', async (end, code, signal) => {
    const { received, channel } = await open()
    const exited = once(received, 'exit')
    received.resume()
    channel.say('the last line')
    channel.exit(end)
    const [toldCode, toldSignal] = await exited
    expect([toldCode, toldSignal ?? undefined]).toEqual([code, signal])
  })
})
