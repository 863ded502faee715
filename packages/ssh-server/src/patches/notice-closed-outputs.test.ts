import type { Connection } from 'ssh2'
import { afterEach, expect, it } from 'vitest'
import { bytesOfString } from '../keys/ssh-reader.ts'
import { exec, idleSession, startTestPair, type TestPair } from '../testing/start-test-pair.ts'
import { createPacketSender } from './send-packet.ts'

let pair: TestPair
afterEach(() => pair.stop())

it('a session learns that its client no longer reads the output', async () => {
  const closed = Promise.withResolvers<void>()
  pair = await startTestPair({
    requests: { openSession: () => idleSession({ onOutputClosed: closed.resolve }) },
  })
  await exec(pair.client)
  const [channelRequest, channel, wantsNoReply] = [Buffer.from([98]), Buffer.alloc(4), Buffer.from([0])]
  const send = createPacketSender(pair.client as unknown as Connection)
  send(channelRequest, channel, bytesOfString(Buffer.from('eow@openssh.com')), wantsNoReply)
  await expect(closed.promise).resolves.toBeUndefined()
})
