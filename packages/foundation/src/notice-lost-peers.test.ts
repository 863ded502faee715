import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { noticeLostPeers } from './notice-lost-peers.ts'

const everyMs = 20
let listener: Server
let client: Socket
let server: Socket
beforeEach(async () => {
  listener = createServer({ pauseOnConnect: true, allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  client = connect((listener.address() as AddressInfo).port, '127.0.0.1')
  ;[server] = (await once(listener, 'connection')) as [Socket]
})
afterEach(() => {
  client.destroy()
  server.destroy()
  listener.close()
})
/** More than the buffers of the kernel. */
const upload = (): boolean => client.write(Buffer.alloc(16 * 2 ** 20, 'x'))

it('closes a connection that is held back once the client has reset it', async () => {
  noticeLostPeers(everyMs)(server)
  const failed = once(server, 'error')
  const closed = new Promise((resolve) => server.once('close', resolve))
  upload()
  await delay(5 * everyMs)
  expect(server.destroyed).toBe(false)
  client.resetAndDestroy()
  expect(await failed).toEqual([expect.objectContaining({ code: 'ECONNRESET' })])
  await closed
})

it('sends nothing over a connection that is held back for long', async () => {
  noticeLostPeers(everyMs)(server)
  let received = ''
  client.on('data', (text) => {
    received += text
  })
  upload()
  client.end()
  await delay(10 * everyMs)
  let bytes = 0
  for await (const chunk of server) bytes += (chunk as Buffer).length
  expect(bytes).toBe(16 * 2 ** 20)
  server.end('answer')
  await once(client, 'close')
  expect(received).toBe('answer')
})

it('closes a connection that has sent its answer and is held back', async () => {
  noticeLostPeers(everyMs)(server)
  server.end('answer')
  client.resume()
  // Read as far as the socket's buffer goes.
  server.read(0)
  upload()
  client.on('error', () => undefined)
  await once(server, 'close')
})

it('leaves a connection alone that closes when it is idle', async () => {
  noticeLostPeers(everyMs)(server)
  server.setTimeout(10 * everyMs)
  await once(server, 'timeout')
})
