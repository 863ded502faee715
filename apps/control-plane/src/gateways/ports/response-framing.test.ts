/** Where a response of a program ends: the gateway and every proxy in front of it must find the same end. */
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

let server: ControlPlaneWithHost
let gateway: number
let program: Server
let host: string
/** What the program answers, whatever it is asked. */
let words = ''

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  gateway = (await server.listen()).port
  program = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(words))
  })
  program.listen(0, '127.0.0.1')
  await once(program, 'listening')
  const { port } = program.address() as { port: number }
  const exposed = await server.call('POST', `/v1/docks/${await server.addDock()}/ports`, { port })
  host = new URL((exposed.body.data as { url: string }).url).host
})
afterAll(async () => {
  program.close()
  await server.stop()
})

/** Sends one request. Returns what arrives until the connection closes or is silent. */
const exchange = async (first: string, extra = ''): Promise<string> => {
  const socket = connect(gateway, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => undefined)
  socket.setTimeout(1_000, () => socket.destroy())
  socket.write(`${first}\r\nHost: ${host}\r\n${extra}\r\n`)
  await once(socket, 'close')
  return received
}
const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n'
const smuggled = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nSMUGGLED'

it.each([
  ['an unknown coding', 'HTTP/1.1', 'Transfer-Encoding: foo\r\n'],
  ['identity', 'HTTP/1.1', 'Transfer-Encoding: identity\r\n'],
  ['an empty coding', 'HTTP/1.1', 'Transfer-Encoding:\r\n'],
  ['two codings', 'HTTP/1.1', 'Transfer-Encoding: gzip, chunked\r\n'],
  ['chunks that are not last', 'HTTP/1.1', 'Transfer-Encoding: chunked, foo\r\n'],
  ['two fields', 'HTTP/1.1', 'Transfer-Encoding: foo\r\nTransfer-Encoding: chunked\r\n'],
  [
    'two fields that say the same',
    'HTTP/1.1',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
  ],
  ['a coding that only begins like chunks', 'HTTP/1.1', 'Transfer-Encoding: chunkedx\r\n'],
  ['chunks before HTTP/1.1', 'HTTP/1.0', 'Transfer-Encoding: chunked\r\n'],
  ['a coding and a length', 'HTTP/1.1', 'Transfer-Encoding: foo\r\nContent-Length: 5\r\n'],
])('a response with %s becomes 502, and none of its bytes pass', async (_, version, header) => {
  words = `${version} 200 OK\r\n${header}\r\n5\r\nhello\r\n0\r\n\r\n${smuggled}`
  for (const extra of ['', upgrade]) {
    const received = await exchange('GET / HTTP/1.1', extra)
    expect(received).toMatch(/^HTTP\/1\.1 502 /)
    expect(received).toContain('The response is incomplete or invalid')
    expect(received).not.toMatch(/hello|SMUGGLED|transfer-encoding/i)
  }
})

it('a response in chunks passes, whatever the case of the word', async () => {
  words = 'HTTP/1.1 200 OK\r\ntransfer-encoding:  Chunked \r\n\r\n5\r\nhello\r\n0\r\n\r\n'
  expect(await exchange('GET / HTTP/1.1')).toMatch(/200 OK.*\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/s)
  expect(await exchange('GET / HTTP/1.1', upgrade)).toMatch(/200 OK.*\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/s)
})

it('a response without a length gets chunks, or for HTTP/1.0 the end of the connection', async () => {
  words = 'HTTP/1.0 200 OK\r\n\r\nhello'
  expect(await exchange('GET / HTTP/1.1')).toMatch(
    /transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n$/is,
  )
  const old = await exchange('GET / HTTP/1.0', 'Connection: keep-alive\r\n')
  expect(old).toMatch(/connection: close.*\r\n\r\nhello$/is)
  expect(old).not.toMatch(/keep-alive|transfer-encoding/i)
})

it.each([
  [
    '204 has neither body nor length',
    'GET / HTTP/1.1',
    '204 No Content',
    'Content-Length: 5\r\n',
    /content-length|transfer-encoding|hello/i,
  ],
  [
    '204 has no chunks',
    'GET / HTTP/1.1',
    '204 No Content',
    'Transfer-Encoding: chunked\r\n',
    /content-length|transfer-encoding|hello/i,
  ],
  ['304 has no body', 'GET / HTTP/1.1', '304 Not Modified', 'Content-Length: 5\r\n', /hello/i],
  [
    '304 has no chunks',
    'GET / HTTP/1.1',
    '304 Not Modified',
    'Transfer-Encoding: chunked\r\n',
    /transfer-encoding|hello/i,
  ],
  ['HEAD has no body', 'HEAD / HTTP/1.1', '200 OK', 'Content-Length: 5\r\n', /hello/i],
  ['HEAD has no chunks in its body', 'HEAD / HTTP/1.1', '200 OK', 'Transfer-Encoding: chunked\r\n', /hello/i],
])('%s', async (_, first, status, header, never) => {
  words = `HTTP/1.1 ${status}\r\n${header}\r\n5\r\nhello\r\n0\r\n\r\n`
  const received = await exchange(first)
  expect(received).toMatch(new RegExp(`^HTTP/1.1 ${status}.*\r\n\r\n$`, 's'))
  expect(received).not.toMatch(never)
})

it('an informational response of a program does not pass as the final one', async () => {
  words = `HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: foo\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello`
  const received = await exchange('GET / HTTP/1.1')
  expect(received).toMatch(/^HTTP\/1\.1 (200 OK.*\r\n\r\nhello|502 .*)$/s)
})

it('an upgrade says nothing about a length or a coding', async () => {
  words = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n\r\nabc`
  const received = await exchange('GET / HTTP/1.1', upgrade)
  expect(received).toMatch(/^HTTP\/1\.1 101 .*upgrade: websocket\r\n\r\nabc$/is)
  expect(received).not.toMatch(/content-length|transfer-encoding/i)
})

it.each(['', 'Connection: Upgrade\r\n', 'Upgrade: websocket, h2c\r\n'])(
  'an upgrade without its two headers becomes 502 (%j)',
  async (header) => {
    words = `HTTP/1.1 101 Switching Protocols\r\n${header}\r\nabc`
    const received = await exchange('GET / HTTP/1.1', upgrade)
    expect(received).toMatch(/^HTTP\/1\.1 502 /)
    expect(received).not.toContain('abc')
  },
)

it('an upgrade is one to the protocol that was offered, whatever the program says', async () => {
  words = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\nabc'
  const received = await exchange('GET / HTTP/1.1', upgrade)
  expect(received).toMatch(
    /^HTTP\/1\.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\nabc$/,
  )
})
