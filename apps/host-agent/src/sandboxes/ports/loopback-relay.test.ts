import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { newUuid } from '@dock/foundation'
import type { ExecRequest, RuntimeDriver, SandboxHandle } from '@dock/runtime'
import { afterEach, expect, test } from 'vitest'
import { LoopbackRelay } from './loopback-relay.ts'
import { openSocket } from './open-socket.ts'

/** A loopback address that plays the Dock's address: servers on 127.0.0.1 cannot be reached through it. */
const address = `127.77.${(process.pid >> 8) & 255}.${process.pid & 255}`
const servers: Server[] = []
let relaysStarted = 0

/** Ends the relays that this file started, which are identified by this address. */
const killRelays = (): void => {
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    try {
      const line = readFileSync(`/proc/${entry}/cmdline`, 'utf8')
      if (line.split('\0').at(-3) === address) process.kill(Number(entry), 'SIGKILL')
    } catch {
      // The process has ended in the meantime.
    }
  }
}
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  killRelays()
  relaysStarted = 0
})

/** A driver that runs the relay as a process of this machine. */
const exec = (_: SandboxHandle, { argv: [program = '', ...args] }: ExecRequest) =>
  new Promise((resolve) => {
    relaysStarted += 1
    execFile(program, args, (_error, stdout, stderr) =>
      resolve({ stdout: Buffer.from(stdout), stderr: Buffer.from(stderr) }),
    )
  })
const relay = () => new LoopbackRelay({ exec } as unknown as RuntimeDriver)
const sandbox = (): SandboxHandle => ({ driver: 'x', version: 1, dockId: newUuid(), generation: 1, data: {} })

const serve = (host: string, onConnection: (socket: Socket) => void): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer({ allowHalfOpen: true }, onConnection)
    servers.push(server)
    server.listen(0, host, () => resolve((server.address() as { port: number }).port))
  })
const textOf = async (socket: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
const echo = (socket: Socket): void => void socket.on('error', () => undefined).pipe(socket)

test('connects directly to a server on all addresses, and returns null if nothing listens', async () => {
  const port = await serve('0.0.0.0', echo)
  const socket = await openSocket(address, port)
  socket?.end('hello')
  expect(await textOf(socket!)).toBe('hello')
  const loopback = await serve('127.0.0.1', echo)
  expect(await openSocket(address, loopback)).toBeNull()
})

test.each(['127.0.0.1', '::1'])(
  'the relay reaches a server on %s, with both ends of a connection',
  async (host) => {
    const port = await serve(host, (socket) => {
      void textOf(socket).then((said) => socket.end(`you said ${said}`))
    })
    const socket = await relay().connect(sandbox(), address, port)
    socket?.end('this')
    expect(await textOf(socket!)).toBe('you said this')
  },
)

test('the relay passes large streams in both directions, and a slow connection does not block others', async () => {
  const port = await serve('127.0.0.1', echo)
  const [ways, dock] = [relay(), sandbox()]
  const slow = await ways.connect(dock, address, port)
  slow?.pause()
  slow?.write(Buffer.alloc(8 * 1024 * 1024))
  const socket = await ways.connect(dock, address, port)
  const total = 32 * 1024 * 1024
  socket?.end(Buffer.alloc(total, 'a'))
  let received = 0
  for await (const chunk of socket!) received += (chunk as Buffer).length
  expect(received).toBe(total)
  expect(relaysStarted).toBe(1)
  slow?.destroy()
})

test('the relay completes many short connections in parallel', async () => {
  const port = await serve('127.0.0.1', (socket) => {
    void textOf(socket).then((said) => socket.end(`you said ${said}`))
  })
  const [ways, dock] = [relay(), sandbox()]
  const talk = async (word: string): Promise<string> => {
    const socket = await ways.connect(dock, address, port)
    socket?.end(word)
    return textOf(socket!)
  }
  const words = Array.from({ length: 200 }, (_, index) => `word ${index}`)
  expect(await Promise.all(words.map(talk))).toEqual(words.map((word) => `you said ${word}`))
  expect(relaysStarted).toBe(1)
})

test('the relay reports that nothing listens', async () => {
  const port = await serve('127.0.0.1', echo)
  servers.pop()?.close()
  expect(await relay().connect(sandbox(), address, port)).toBeNull()
})

test('restarts a relay that was killed, and starts a separate one for another sandbox', async () => {
  const port = await serve('127.0.0.1', echo)
  const [ways, dock] = [relay(), sandbox()]
  ;(await ways.connect(dock, address, port))?.destroy()
  killRelays()
  const again = await ways.connect(dock, address, port)
  again?.end('again')
  expect(await textOf(again!)).toBe('again')
  expect(relaysStarted).toBe(2)
  ;(await ways.connect(sandbox(), address, port))?.destroy()
  expect(relaysStarted).toBe(3)
})
