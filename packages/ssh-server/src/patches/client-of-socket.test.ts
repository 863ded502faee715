import { once } from 'node:events'
import ssh2 from 'ssh2'
import { afterEach, expect, it } from 'vitest'
import { clientKey, startTestServer, type TestServer } from '../testing/start-test-pair.ts'

const servers: TestServer[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.stop()
})

it('each of several clients reaches the handlers of its own socket', async () => {
  const connect = async (username: string): Promise<string> => {
    let found = ''
    const server = await startTestServer({
      handlers: {
        signIn: async ({ userName }) => {
          found = userName
          return 'accepted'
        },
      },
    })
    servers.push(server)
    const client = new ssh2.Client()
    client.connect({ host: '127.0.0.1', port: server.port, username, privateKey: clientKey.private })
    await once(client, 'ready')
    client.destroy()
    return found
  }
  expect(await Promise.all(['one', 'two', 'three'].map(connect))).toEqual(['one', 'two', 'three'])
})
