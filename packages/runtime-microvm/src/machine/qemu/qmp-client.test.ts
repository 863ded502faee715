/** Tests the client against a server that sends whatever a taken-over QEMU could. */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { QmpBroken, QmpClient, type QmpEvent, QmpRefused } from './qmp-client.ts'

let folder: string
let server: Server
let events: QmpEvent[]
/** Called with each command. Its result is sent as it is. */
let answer: (command: { execute: string; id: number }, socket: Socket) => string
let greeting = '{"QMP": {"version": {}, "capabilities": []}}\r\n'

const path = () => join(folder, 'monitor')
const connect = () => QmpClient.connect(path(), (event) => events.push(event))
const ok = ({ id }: { id: number }) => `{"return": {}, "id": ${id}}\r\n`

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dock-qmp-'))
  events = []
  answer = ok
  greeting = '{"QMP": {"version": {}, "capabilities": []}}\r\n'
  server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write(greeting)
    let text = ''
    socket.setEncoding('utf8').on('data', (piece: string) => {
      const lines = (text + piece).split('\n')
      text = lines.pop()!
      for (const line of lines) socket.write(answer(JSON.parse(line), socket))
    })
  })
  await new Promise<void>((resolve) => server.listen(path(), resolve))
})
afterEach(async () => {
  await new Promise((resolve) => server.close(resolve))
  rmSync(folder, { recursive: true })
})

test('results reach the commands they belong to, in any order, and events come between them', async () => {
  const client = await connect()
  const held: number[] = []
  answer = ({ id }) => {
    held.push(id)
    if (held.length < 2) return ''
    return `{"return": "second", "id": ${held[1]}}\n{"event": "STOP", "timestamp": {}}\n{"return": "first", "id": ${held[0]}}\n`
  }
  expect(await Promise.all([client.execute('one'), client.execute('two')])).toEqual(['first', 'second'])
  expect(events).toEqual([{ name: 'STOP', data: {} }])
  client.close()
})

test('a refusal rejects only its command', async () => {
  const client = await connect()
  answer = ({ id }) => `{"error": {"class": "GenericError", "desc": "no such thing"}, "id": ${id}}\n`
  await expect(client.execute('one')).rejects.toThrow(new QmpRefused('no such thing'))
  answer = ok
  expect(await client.execute('two')).toEqual({})
  client.close()
})

test.each([
  ['a line without an end', () => 'x'.repeat(2 ** 21)],
  ['a line that is no JSON', () => '}\n'],
  ['a message of another kind', () => '{"hello": 1}\n'],
  ['a message that is no object', () => '[null]\n'],
  ['a result without its command', () => '{"return": {}}\n'],
  ['a flood of events', () => '{"event": "STOP"}\n'.repeat(2001)],
  ['an answer to a command that nobody sent', () => '{"return": {}, "id": 999}\n'],
  ['a second answer to a command', ({ id }: { id: number }) => ok({ id }) + ok({ id })],
])('%s ends the connection', async (_, lie) => {
  const client = await connect()
  answer = lie
  const command = client.execute('one').catch((error: unknown) => error)
  expect(await client.closed).toBeInstanceOf(QmpBroken)
  await command
  await expect(client.execute('two')).rejects.toBeInstanceOf(QmpBroken)
})

test('commands in flight are rejected when QEMU ends', async () => {
  const client = await connect()
  answer = (_, socket) => {
    socket.destroy()
    return ''
  }
  await expect(client.execute('one')).rejects.toBeInstanceOf(QmpBroken)
  expect((await client.closed).message).toContain('closed')
})

test('the number of commands in flight is bounded', async () => {
  const client = await connect()
  answer = () => ''
  const commands = Array.from({ length: 64 }, () => client.execute('one').catch((error: unknown) => error))
  await expect(client.execute('one too many')).rejects.toThrow('too many commands')
  client.close()
  for (const result of await Promise.all(commands)) expect(result).toBeInstanceOf(QmpBroken)
})

test('a server that is gone, or closes at once, rejects the connection', async () => {
  greeting = ''
  const connection = connect()
  server.on('connection', (socket) => socket.destroy())
  await expect(connection).rejects.toBeInstanceOf(QmpBroken)
  await expect(QmpClient.connect(join(folder, 'nothing'), () => undefined)).rejects.toBeInstanceOf(QmpBroken)
})
