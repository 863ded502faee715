import { afterEach, expect, it } from 'vitest'
import { exec, startTestPair, type TestPair } from '../testing/start-test-pair.ts'
import { tooLongMessage } from './explain-long-packet.ts'

let pair: TestPair
afterEach(() => pair.stop())

it('a client whose packet is too long for its cipher is told why it is disconnected', async () => {
  pair = await startTestPair({ client: { algorithms: { cipher: ['aes128-ctr'] } } })
  const told = new Promise<Error>((resolve) => pair.client.on('error', resolve))
  exec(pair.client, 'a'.repeat(40_000)).catch(() => undefined)
  expect((await told).message).toContain('a packet is too long: this cipher allows 35000 bytes')
  // ssh2 says it in these words (lib/protocol/crypto.js).
  expect(pair.errors.map(({ message }) => message)).toContain(tooLongMessage)
})
