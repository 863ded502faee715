/** Programs in a Dock that answer with anything but HTTP. No answer may end the gateway, or leave its visitor waiting. */
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'

let server: ControlPlaneWithHost
let gateway: number
let program: Server
let host: string
/** What the program answers, whatever it is asked. */
let words = Buffer.alloc(0)

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

const versions = ['HTTP/1.1', 'HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'ICE/1.0']
const codes = [
  '000',
  '099',
  '100',
  '101',
  '103',
  '200',
  '204',
  '205',
  '304',
  '407',
  '599',
  '600',
  '999',
  '20',
  '2000',
]
const headers = [
  ...[
    'Content-Length: 5',
    'Content-Length: 0',
    'Content-Length: 6',
    'Content-Length: -1',
    'Content-Length: 1e3',
  ],
  ...[
    'Content-Length: 99999999999999999999',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: gzip, chunked',
  ],
  ...[
    'Connection: upgrade',
    'Connection: close, x',
    'Upgrade: websocket',
    'Upgrade: \x01',
    'Keep-Alive: timeout=-1',
  ],
  ...[
    'Set-Cookie: a=\xff; Domain',
    'Set-Cookie:',
    'Location: //[',
    'Trailer: X',
    'X: \x01',
    'X\x7f: y',
    ': empty',
  ],
  ...['Date: never', 'Content-Type: \xe9', 'Sec-WebSocket-Accept: x', '__proto__: x', 'constructor: x'],
]
const bodies = [
  '',
  'hello',
  '5\r\nhello\r\n0\r\n\r\n',
  '5;x=\x01\r\nhello\r\n0\r\nX: \x01\r\n\r\n',
  'fffffffff\r\n',
  '\x81\x7f',
]

const answer = fc
  .record({
    version: fc.constantFrom(...versions, ...Array<string>(8).fill('HTTP/1.1')),
    code: fc.constantFrom(...codes),
    reason: fc.oneof(fc.constant('OK'), fc.string({ unit: 'binary', maxLength: 8 })),
    headers: fc.array(fc.constantFrom(...headers), { maxLength: 4 }),
    body: fc.constantFrom(...bodies),
  })
  .map((each) => [`${each.version} ${each.code} ${each.reason}`, ...each.headers, '', each.body].join('\r\n'))

/** Sends a request, and returns the first line of the answer. Empty if the connection ends without one. */
const ask = async (extra: string): Promise<string> => {
  const socket = connect(gateway, '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n${extra}\r\n`)
  let received = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    received += text
  })
  await once(socket, 'close')
  return received.slice(0, received.indexOf('\r\n'))
}

const upgrade =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n'

it.each([
  ['a request', 'Connection: close\r\n'],
  ['a WebSocket', upgrade],
])('%s gets a valid status line or none, and the gateway lives', async (_, extra) => {
  await fc.assert(
    fc.asyncProperty(answer, async (text) => {
      words = Buffer.from(text, 'latin1')
      expect(await ask(extra)).toMatch(/^(HTTP\/1\.1 (101|[2-5]\d\d) [\t\x20-\x7e\x80-\xff]*)?$/)
    }),
    { numRuns: 150 },
  )
  words = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
  expect(await ask('Connection: close\r\n')).toBe('HTTP/1.1 200 OK')
})
