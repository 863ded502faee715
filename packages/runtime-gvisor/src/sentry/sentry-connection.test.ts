import { closeSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { connectUnixSocket, openPipe } from '../system/system-calls.ts'
import { SentryConnection, SentryRefused, SentrySilent } from './sentry-connection.ts'

let folder: string
let server: Server
let path: string
/** How the fake sentry reacts to the bytes it received so far. */
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

test('an answer in pieces is assembled, and the connection can be reused', async () => {
  const connection = await SentryConnection.open(path)
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

test('a refusal has the message of the sentry', async () => {
  const connection = await SentryConnection.open(path)
  respond = (_, socket) => socket.write('{"success":false,"err":"no such container"}')
  const call = connection.call('method', null)
  await expect(call).rejects.toThrow(SentryRefused)
  await expect(call).rejects.toThrow('no such container')
  expect(connection.isFree).toBe(true)
  connection.close()
})

test('a call that times out closes its connection', async () => {
  const connection = await SentryConnection.open(path)
  respond = () => undefined
  await expect(connection.call('method', null, { deadlineMs: 20 })).rejects.toThrow(SentrySilent)
  expect(connection.isFree).toBe(false)
})

test('a call fails when the sentry ends', async () => {
  const connection = await SentryConnection.open(path)
  respond = (_, socket) => socket.destroy()
  await expect(connection.call('method', null)).rejects.toThrow(SentrySilent)
  expect(connection.isFree).toBe(false)
})

test('a request larger than the socket buffer arrives whole, with its descriptors', async () => {
  const connection = await SentryConnection.open(path)
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

test('braces in strings and nested objects do not end an answer, however it is split', async () => {
  const connection = await SentryConnection.open(path)
  const result = { text: '}]"\\{', list: [{ a: [1, '}'] }, []] }
  const bytes = JSON.stringify({ success: true, result })
  respond = async (_, socket) => {
    for (const byte of bytes) await new Promise<void>((resolve) => socket.write(byte, () => resolve()))
  }
  expect(await connection.call('method', null)).toEqual(result)
  expect(connection.isFree).toBe(true)
  connection.close()
})

test('an endless answer closes the connection', async () => {
  const connection = await SentryConnection.open(path)
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
  await expect(connection.call('method', null)).rejects.toThrow('size limit')
  expect(connection.isFree).toBe(false)
  expect(sent).toBeLessThan(8 * 2 ** 20)
})

test('bytes after an answer, or bytes that are no answer, close the connection', async () => {
  for (const bytes of ['{"success":true,"result":1}{', 'null{}', '}']) {
    const connection = await SentryConnection.open(path)
    respond = (_, socket) => socket.write(bytes)
    await expect(connection.call('method', null)).rejects.toThrow('not a single JSON object')
    expect(connection.isFree).toBe(false)
  }
})

test('connecting to a path without a listener throws', async () => {
  await expect(SentryConnection.open(join(folder, 'nobody'))).rejects.toThrow('connect')
})

/** Connects until the backlog is full. The server accepts none of them before the test waits for something. */
const fillBacklog = (): void => {
  const descriptors: number[] = []
  for (let next = connectUnixSocket(path); next !== null; next = connectUnixSocket(path))
    descriptors.push(next)
  onTestFinished(() => {
    for (const each of descriptors) closeSync(each)
  })
}

test('a full backlog is waited for', async () => {
  fillBacklog()
  respond = (_, socket) => socket.write('{"success":true,"result":1}')
  const connection = await SentryConnection.open(path)
  expect(await connection.call('method', null)).toBe(1)
  connection.close()
})

test('a full backlog is waited for until the deadline', async () => {
  fillBacklog()
  await expect(SentryConnection.open(path, 0)).rejects.toThrow(SentrySilent)
})
