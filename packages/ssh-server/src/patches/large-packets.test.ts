import { randomBytes, randomInt } from 'node:crypto'
import type { Connection } from 'ssh2'
import ciphers from 'ssh2/lib/protocol/crypto.js'
import { afterEach, describe, expect, it } from 'vitest'
import { exec, idleSession, startTestPair, type TestPair } from '../testing/start-test-pair.ts'
import { takeLargePackets } from './large-packets.ts'

type Cipher = { allocPacket(bytes: number): Buffer; encrypt(packet: Buffer): void }
type Decipher = { decrypt(bytes: Buffer, from: number, to: number): number | undefined }
type Crypto = {
  CIPHER_INFO: Record<string, unknown>
  createCipher(config: object): Cipher
  createDecipher(config: object): Decipher
}
const { CIPHER_INFO, createCipher, createDecipher } = ciphers as Crypto

const keyed = (onWrite: (bytes: Buffer) => void, onPayload: (payload: Buffer) => void) => {
  const info = CIPHER_INFO['aes128-gcm@openssh.com']
  const [key, nonce] = [randomBytes(16), randomBytes(12)]
  const out = { cipherInfo: info, cipherKey: key, cipherIV: Buffer.from(nonce) }
  const inward = { decipherInfo: info, decipherKey: key, decipherIV: Buffer.from(nonce) }
  return {
    cipher: createCipher({ outbound: { ...out, onWrite, seqno: 0 } }),
    decipher: createDecipher({ inbound: { ...inward, onPayload, seqno: 0 } }),
  }
}

/** Encrypts the contents, and returns the function that takes bytes as a connection does, and what has arrived. */
const connect = (contents: readonly Buffer[]) => {
  const written: Buffer[] = []
  const arrived: Buffer[] = []
  const { cipher, decipher } = keyed(
    (bytes) => void written.push(Buffer.from(bytes)),
    (payload) => void arrived.push(Buffer.from(payload)),
  )
  for (const content of contents) {
    const packet = cipher.allocPacket(content.length)
    content.copy(packet, 5)
    cipher.encrypt(packet)
  }
  const protocol = {
    _decipher: decipher,
    _parse(bytes: Buffer, from: number, to: number): number | undefined {
      return this._decipher.decrypt(bytes, from, to)
    },
  }
  takeLargePackets({ _protocol: protocol } as unknown as Connection)
  const take = (bytes: Buffer): void => {
    for (let at: number | undefined = 0; at !== undefined && at < bytes.length; )
      at = protocol._parse(bytes, at, bytes.length)
  }
  return { bytes: Buffer.concat(written), arrived, take }
}

const lengths = [1, 34_950, 34_975, 35_000, 7, 65_536, 262_000, 100, 200_000, 200_000, 3]
const contents = lengths.map((length) => randomBytes(length))

it.each([
  ['at once', () => Number.POSITIVE_INFINITY],
  ['in pieces of 65536 bytes', () => 65_536],
  ['in pieces of 3 bytes', () => 3],
  ['in pieces of 1 byte', () => 1],
  ['in pieces of any length', () => randomInt(1, randomInt(2, 100_000))],
])('packets of all lengths arrive unchanged %s', (_, next) => {
  const { bytes, arrived, take } = connect(contents)
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(at + next(), bytes.length)
    take(bytes.subarray(at, end))
    at = end
  }
  expect(arrived.map(({ length }) => length)).toEqual(lengths)
  expect(Buffer.concat(arrived).equals(Buffer.concat(contents))).toBe(true)
})

it('a packet of more than 256 KiB, or with a wrong length, is refused before it is held', () => {
  const tooLarge = connect([randomBytes(10), randomBytes(262_145)])
  expect(() => tooLarge.take(tooLarge.bytes)).toThrow('Bad packet length')
  expect(tooLarge.arrived).toHaveLength(1)
  for (const length of [0, 40_001, 2 ** 31, 2 ** 32 - 16]) {
    const head = Buffer.alloc(20)
    head.writeUInt32BE(length)
    expect(() => connect([]).take(head)).toThrow('Bad packet length')
  }
})

it('a packet that was changed on its way is refused', () => {
  const { bytes, take } = connect([randomBytes(100_000)])
  bytes[50_000]! ^= 1
  expect(() => take(bytes)).toThrow()
})

describe('a live connection', () => {
  let pair: TestPair
  afterEach(() => pair.stop())

  it.each(['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com'] as const)(
    'takes a long command with %s, also after keys were exchanged again',
    async (cipher) => {
      const lengths: number[] = []
      pair = await startTestPair({
        client: { algorithms: { cipher: [cipher] } },
        requests: {
          openSession: () =>
            idleSession({
              start: (program, accept) => {
                lengths.push(program.kind === 'exec' ? program.command.length : 0)
                accept()
                return true
              },
            }),
        },
      })
      await exec(pair.client, 'a'.repeat(60_000))
      await new Promise<void>((resolve) => pair.peer.rekey(() => resolve()))
      await exec(pair.client, 'a'.repeat(200_000))
      expect(lengths).toEqual([60_000, 200_000])
    },
  )
})
