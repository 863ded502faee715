import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLogger } from '@dock/foundation'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { type AgentLink, acceptLink } from './accept-link.ts'
import { dialLink } from './dial-link.ts'
import { HostRefused, HostUnreachable } from './link-errors.ts'
import type { ConnectHandler } from './serve-connection.ts'

let server: Server
let stop: AbortController
let arrived: PromiseWithResolvers<{ link: AgentLink; cut: () => void }>
const logger = createLogger('test')
logger.level = 'silent'

beforeEach(async () => {
  stop = new AbortController()
  arrived = Promise.withResolvers()
  const sockets = new WebSocketServer({ noServer: true })
  server = createServer()
  server.on('upgrade', (request, raw, head) => {
    sockets.handleUpgrade(request, raw, head, (socket) =>
      arrived.resolve({ link: acceptLink(socket), cut: () => raw.destroy() }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  stop.abort()
  await new Promise((resolve) => server.close(resolve))
})

const linked = (connect?: ConnectHandler) => {
  void dialLink({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credential: 'right',
    ...{ hostId: 'host-1', session: 'session-1', channel: 'bulk', signal: stop.signal, logger },
    handler: () => new Response('a call'),
    ...(connect ? { connect } : {}),
  })
  return arrived.promise
}

const textOf = async (stream: AsyncIterable<Buffer>): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('carries bytes both ways at once, ends each direction separately', async () => {
  const { link } = await linked(async ({ target, accept }) => {
    const stream = accept()
    stream.write(`hello ${target.pathname}${target.search}\n`)
    void textOf(stream).then((said) => stream.end(`you said ${said}`))
  })
  const socket = await link.connect('/docks/1/terminal?cols=80')
  const greeting = new Promise<Buffer>((resolve) => socket.once('data', resolve))
  expect((await greeting).toString()).toBe('hello /docks/1/terminal?cols=80\n')
  socket.end('this')
  expect(await textOf(socket)).toBe('you said this')
  expect((await link.request('GET', '/call')).body.toString()).toBe('a call')
})

test('keeps bytes for a late reader, even after the connection ended', async () => {
  const { link } = await linked(async ({ accept }) => void accept().end('early'))
  const socket = await link.connect('/')
  await new Promise((resolve) => setImmediate(resolve))
  expect((await link.request('GET', '/')).status).toBe(200)
  expect(await textOf(socket)).toBe('early')
})

test('a refusal becomes HostRefused, and a handler that throws becomes HostUnreachable', async () => {
  const { link } = await linked(async ({ target, refuse }) => {
    if (target.pathname === '/throws') throw new Error('broken')
    refuse(409, { code: 'busy', message: 'four are open' })
  })
  const refused = await link.connect('/').catch((error) => error)
  expect(refused).toBeInstanceOf(HostRefused)
  expect(refused).toMatchObject({ code: 'busy', message: 'four are open' })
  await expect(link.connect('/throws')).rejects.toBeInstanceOf(HostUnreachable)
  expect((await link.request('GET', '/')).status).toBe(200)
})

test('applies backpressure in both directions', async () => {
  let sent = 0
  const { link } = await linked(async ({ accept }) => {
    const stream = accept()
    const chunk = Buffer.alloc(64 * 1024)
    const fill = (): void => {
      while (!stream.destroyed) {
        sent += chunk.length
        if (!stream.write(chunk)) return void stream.once('drain', fill)
      }
    }
    fill()
  })
  const socket = await link.connect('/')
  socket.pause()
  let written = 0
  let blocked = false
  while (!blocked) {
    written += 64 * 1024
    blocked = !socket.write(Buffer.alloc(64 * 1024))
    if (blocked) blocked = await Promise.race([once(socket, 'drain', false), after(1_000, true)])
  }
  expect(written).toBeLessThan(8 * 1024 * 1024)
  expect(sent).toBeLessThan(8 * 1024 * 1024)
  socket.destroy()
})

const once = <T>(stream: NodeJS.EventEmitter, event: string, value: T): Promise<T> =>
  new Promise((resolve) => stream.once(event, () => resolve(value)))
const after = <T>(ms: number, value: T): Promise<T> =>
  new Promise((resolve) => setTimeout(resolve, ms, value))

test('destroying the socket notifies the agent, and a broken link is an error instead of an orderly end', async () => {
  let left = Promise.withResolvers<void>()
  const { link, cut } = await linked(async ({ accept, gone }) => {
    gone.addEventListener('abort', () => left.resolve())
    accept().write('x')
  })
  const first = await link.connect('/')
  first.destroy()
  await left.promise
  left = Promise.withResolvers()
  const second = await link.connect('/')
  const failed = new Promise((resolve) => second.once('error', resolve))
  second.resume()
  cut()
  expect(await failed).toBeInstanceOf(HostUnreachable)
  await left.promise
  await expect(link.connect('/')).rejects.toBeInstanceOf(HostUnreachable)
})

test('a signal aborts the wait for an agent that does not respond', async () => {
  const { link } = await linked(() => new Promise(() => undefined))
  const leaving = new AbortController()
  const waiting = link.connect('/', { signal: leaving.signal })
  leaving.abort(new Error('left'))
  await expect(waiting).rejects.toThrow('left')
})
