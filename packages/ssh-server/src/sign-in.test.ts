import { once } from 'node:events'
import ssh2, { type ParsedKey } from 'ssh2'
import { afterEach, expect, it } from 'vitest'
import { generateKeyPair } from './keys/generate-key-pair.ts'
import { clientKey, startTestServer, type TestServer } from './testing/start-test-pair.ts'

let server: TestServer
afterEach(() => server.stop())

/** Connects with a key, and returns how often the client offered it until it was disconnected, or -1 if it got in. */
const offer = async (key: ParsedKey | string): Promise<number> => {
  const client = new ssh2.Client()
  let offers = 0
  let isIn = false
  client
    .on('error', () => undefined)
    .on('ready', () => {
      isIn = true
      client.end()
    })
  client.connect({
    host: '127.0.0.1',
    port: server.port,
    username: 'x',
    authHandler: (_methods, _partial, next) => {
      offers += 1
      next({ type: 'publickey', username: 'x', key })
    },
  })
  await once(client, 'close')
  return isIn ? -1 : offers
}

it('asks only about a key with a valid signature', async () => {
  const asked: Buffer[] = []
  let refused = 0
  server = await startTestServer({
    handlers: {
      signIn: async ({ publicKey }) => {
        asked.push(publicKey)
        return 'accepted'
      },
      onKeyRefused: () => {
        refused += 1
      },
    },
  })
  const parsed = ssh2.utils.parseKey(generateKeyPair('ssh-ed25519').private) as ParsedKey
  const forged = Object.assign(Object.create(parsed), { sign: () => Buffer.alloc(64) })
  // A wrong signature ends the connection. The question before it was answered with yes.
  expect(await offer(forged)).toBe(1)
  expect([asked, refused]).toEqual([[], 1])
  expect(await offer(parsed)).toBe(-1)
  expect(asked).toEqual([parsed.getPublicSSH()])
})

it('lets a client try only so many keys', async () => {
  server = await startTestServer({ handlers: { signIn: async () => ({ remark: null }) } })
  expect(await offer(clientKey.private)).toBe(4)
})

it('ends a connection whose sign-in fails', async () => {
  server = await startTestServer({ handlers: { signIn: () => Promise.reject(new Error('no database')) } })
  expect(await offer(clientKey.private)).toBe(1)
})

it('refuses keys of other types without computing', async () => {
  let refused = 0
  server = await startTestServer({
    handlers: {
      onKeyRefused: () => {
        refused += 1
      },
    },
  })
  // Any key can be asked about, so only the type matters here.
  const parsed = ssh2.utils.parseKey(generateKeyPair('ssh-ed25519').private) as ParsedKey
  const odd = Object.assign(Object.create(parsed), { type: 'ssh-dss' })
  await offer(odd)
  expect(refused).toBeGreaterThan(0)
})
