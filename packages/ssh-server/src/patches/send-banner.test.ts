import ssh2 from 'ssh2'
import { afterEach, expect, it } from 'vitest'
import { clientKey, startTestServer, type TestServer } from '../testing/start-test-pair.ts'

let server: TestServer
afterEach(() => server.stop())

it('a client reads the remark before it learns that its key was refused', async () => {
  server = await startTestServer({ handlers: { signIn: async () => ({ remark: 'add the key: ümläut' }) } })
  const client = new ssh2.Client()
  const said: string[] = []
  client.on('banner', (text) => void said.push(text))
  client.on('error', ({ message }) => void said.push(message))
  const closed = new Promise<void>((resolve) => client.on('close', () => resolve()))
  client.connect({ host: '127.0.0.1', port: server.port, username: 'x', privateKey: clientKey.private })
  await closed
  expect(said).toEqual(['add the key: ümläut\r\n', 'All configured authentication methods failed'])
})
