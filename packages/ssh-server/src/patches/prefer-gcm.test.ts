import { KeyObject } from 'node:crypto'
import { once } from 'node:events'
import ssh2 from 'ssh2'
import { afterEach, expect, it } from 'vitest'
import { clientKey, startTestPair, startTestServer, type TestServer } from '../testing/start-test-pair.ts'

let server: TestServer
afterEach(() => server.stop())

it.each([
  [['aes128-ctr', 'aes256-gcm@openssh.com'], 'aes256-gcm@openssh.com'],
  [['aes192-ctr', 'aes128-ctr'], 'aes192-ctr'],
] as const)('a client that prefers %s uses %s', async (offered, used) => {
  server = await startTestServer()
  const client = new ssh2.Client()
  const connection = { host: '127.0.0.1', port: server.port, username: 'x', privateKey: clientKey.private }
  client.connect({ ...connection, algorithms: { cipher: [...offered] } })
  const [negotiated] = await once(client, 'handshake')
  expect([negotiated.cs.cipher, negotiated.sc.cipher]).toEqual([used, used])
  client.destroy()
})

it('ciphers get key objects, also after keys were exchanged again', async () => {
  const pair = await startTestPair()
  server = pair
  const protocol = Object(Reflect.get(pair.peer, '_protocol'))
  const keys = (): unknown[] => [
    Reflect.get(Object(Reflect.get(protocol, '_cipher')), '_encKey'),
    Reflect.get(Object(Reflect.get(protocol, '_decipher')), '_decipherKey'),
  ]
  const before = keys()
  expect(before.every((key) => key instanceof KeyObject)).toBe(true)
  await new Promise<void>((resolve) => pair.peer.rekey(() => resolve()))
  expect(keys().every((key) => key instanceof KeyObject && !before.includes(key))).toBe(true)
})
