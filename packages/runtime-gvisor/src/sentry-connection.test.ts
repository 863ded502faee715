import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SentryConnection, SentryRefused, SentrySilent } from './sentry-connection.ts'
import { openPipe } from './system-calls.ts'

let folder: string
let server: Server
let path: string
/** What the pretended sentry does with the bytes it was sent so far. */
let respond: (received: string, socket: Socket) => void

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dock-sentry-'))
  path = join(folder, 'socket')
  server = createServer((socket) => {
    let received = ''
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      received += chunk
      respond(received, socket)
    })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
})
afterEach(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

test('an answer in pieces is put together, and the connection takes the next call', async () => {
  const connection = new SentryConnection(path)
  respond = (_, socket) => {
    socket.write('{"success":true,"result":{"a":1}')
    setImmediate(() => socket.write('}'))
  }
  expect(await connection.call('method', 'argument')).toEqual({ a: 1 })
  respond = (received, socket) => {
    expect(received).toBe('{"method":"method","arg":"argument"}{"method":"other","arg":[2]}')
    socket.write('{"success":true,"result":"done"}')
  }
  expect(await connection.call('other', [2])).toBe('done')
  expect(connection.isFree).toBe(true)
  connection.close()
})

test('a refusal carries the words of the sentry', async () => {
  const connection = new SentryConnection(path)
  respond = (_, socket) => socket.write('{"success":false,"err":"no such container"}')
  const call = connection.call('method', null)
  await expect(call).rejects.toThrow(SentryRefused)
  await expect(call).rejects.toThrow('no such container')
  expect(connection.isFree).toBe(true)
  connection.close()
})

test('a connection without an answer in time is given up', async () => {
  const connection = new SentryConnection(path)
  respond = () => undefined
  await expect(connection.call('method', null, { deadlineMs: 20 })).rejects.toThrow(SentrySilent)
  expect(connection.isFree).toBe(false)
})

test('a call ends when the sentry does', async () => {
  const connection = new SentryConnection(path)
  respond = (_, socket) => socket.destroy()
  await expect(connection.call('method', null)).rejects.toThrow(SentrySilent)
  expect(connection.isFree).toBe(false)
})

test('a request larger than the socket takes at once arrives whole, descriptors and all', async () => {
  const connection = new SentryConnection(path)
  const argument = 'x'.repeat(3_000_000)
  const expected = JSON.stringify({ method: 'method', arg: argument })
  respond = (received, socket) => {
    if (received.length < expected.length) return
    socket.write(JSON.stringify({ success: received === expected, result: received.length }))
  }
  const { readFd, writeFd } = openPipe()
  const descriptors = [readFd, writeFd]
  expect(await connection.call('method', argument, { descriptors })).toBe(expected.length)
  connection.close()
})

test('braces in strings and inner objects do not end an answer, wherever it is cut', async () => {
  const connection = new SentryConnection(path)
  const result = { text: '}]"\\{', list: [{ a: [1, '}'] }, []] }
  const bytes = JSON.stringify({ success: true, result })
  respond = async (_, socket) => {
    for (const byte of bytes) await new Promise<void>((resolve) => socket.write(byte, () => resolve()))
  }
  expect(await connection.call('method', null)).toEqual(result)
  expect(connection.isFree).toBe(true)
  connection.close()
})

test('a sentry that answers without end is cut off', async () => {
  const connection = new SentryConnection(path)
  let sent = 0
  // Each piece ends with a brace, and none of them ends the answer.
  const piece = Buffer.from(`"${'x'.repeat(65_529)}":{},{}`.slice(-65_536))
  respond = (_, socket) => {
    socket.write('{')
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece)) sent += piece.length
    }
    socket.on('drain', more)
    more()
  }
  await expect(connection.call('method', null)).rejects.toThrow('longer than')
  expect(connection.isFree).toBe(false)
  expect(sent).toBeLessThan(8 * 2 ** 20)
})

test('bytes behind an answer, or none that begins one, end the connection', async () => {
  for (const bytes of ['{"success":true,"result":1}{', 'null{}', '}']) {
    const connection = new SentryConnection(path)
    respond = (_, socket) => socket.write(bytes)
    await expect(connection.call('method', null)).rejects.toThrow('something else')
    expect(connection.isFree).toBe(false)
  }
})

test('nobody at the path is an error at once', () => {
  expect(() => new SentryConnection(join(folder, 'nobody'))).toThrow('connect')
})
