import { once } from 'node:events'
import { createServer, type OutgoingHttpHeaders, type Server } from 'node:http'
import { type ClientHttp2Session, connect, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { duplexPair, Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createLogger } from '@dock/foundation'
import { uncaughtDuring } from '@dock/testkit/src/uncaught-during.ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { type AgentLink, acceptLink } from './accept-link.ts'
import { type DialEnd, dialLink, type LinkChannel } from './dial-link.ts'
import { HostUnreachable, LinkTimeout } from './link-errors.ts'
import type { LivenessTimes } from './link-liveness.ts'
import { type LinkHandler, serveLink } from './serve-link.ts'

let server: Server
let stop: AbortController
let accepted: { channel: string; link: AgentLink; raw: Socket; session: string }[]
let waiting: (() => void)[]
let refuseWith: string | undefined
let times: LivenessTimes | undefined
const logger = createLogger('test')
logger.level = 'silent'

beforeEach(async () => {
  accepted = []
  waiting = []
  refuseWith = undefined
  times = undefined
  stop = new AbortController()
  const sockets = new WebSocketServer({ noServer: true })
  server = createServer()
  server.on('upgrade', (request, raw, head) => {
    if (refuseWith || request.headers.authorization !== 'Bearer right') {
      raw.end(
        `HTTP/1.1 ${refuseWith ?? '401 Unauthorized'}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      )
      return
    }
    sockets.handleUpgrade(request, raw, head, (socket) => {
      const channel = new URL(request.url ?? '', 'http://x').searchParams.get('channel') ?? ''
      const link = acceptLink(socket, times)
      const session = `${request.headers['x-dock-host']}/${request.headers['x-dock-session']}`
      accepted.push({ channel, link, raw: raw as Socket, session })
      for (const wake of waiting.splice(0)) wake()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterEach(async () => {
  stop.abort()
  for (const { link } of accepted) link.close()
  await new Promise((resolve) => server.close(resolve))
})

const dial = (
  handler: LinkHandler,
  channel: LinkChannel = 'control',
  credential = 'right',
): Promise<DialEnd> =>
  dialLink({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    credential,
    hostId: 'host-1',
    session: 'session-1',
    channel,
    handler,
    signal: stop.signal,
    logger,
    ...(times ? { times } : {}),
  })

/** Waits for the `index`th accepted connection. */
const arrival = async (index: number) => {
  for (;;) {
    const found = accepted[index]
    if (found) return found
    await new Promise<void>((wake) => waiting.push(wake))
  }
}

const chunkBytes = 64 * 1024
/** A body of `total` bytes that is produced only when pulled. */
const produce = (total: number, made: { bytes: number; cancelled?: boolean }): ReadableStream<Uint8Array> =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (made.bytes >= total) return controller.close()
      controller.enqueue(new Uint8Array(chunkBytes).fill(made.bytes & 0xff))
      made.bytes += chunkBytes
    },
    cancel: () => {
      made.cancelled = true
    },
  })

test('small calls carry bodies and statuses, and the link carries the ids of host and session', async () => {
  void dial(async (request) => {
    const { pathname, search } = new URL(request.url)
    if (pathname === '/refuse') return Response.json({ code: 'busy', message: 'wait' }, { status: 409 })
    if (pathname === '/nonsense') return new Response('<html>', { status: 502 })
    if (pathname === '/throws') throw new Error('broken handler')
    const body = request.method === 'GET' ? null : await request.json()
    return Response.json({ path: pathname + search, body })
  })
  const { link, session, channel } = await arrival(0)
  expect([session, channel]).toEqual(['host-1/session-1', 'control'])
  const answer = await link.request('GET', '/a?b=%20c')
  expect([answer.status, answer.json()]).toEqual([200, { path: '/a?b=%20c', body: null }])

  const echoed = await link.request('POST', '/echo', { body: { n: 7 } })
  expect(echoed.json()).toEqual({ path: '/echo', body: { n: 7 } })
  const refused = await link.request('POST', '/refuse', { body: { n: 7 } })
  expect([refused.status, refused.json()]).toEqual([409, { code: 'busy', message: 'wait' }])
  const unreadable = await link.request('GET', '/nonsense')
  expect(() => unreadable.json()).toThrow(SyntaxError)
  await expect(link.request('GET', '/throws')).rejects.toBeInstanceOf(HostUnreachable)
  expect((await link.request('GET', '/still-there')).status).toBe(200)
})

test('a thousand concurrent calls each get their own response', async () => {
  void dial(async (request) => new Response(await request.text()))
  const { link } = await arrival(0)
  const answers = await Promise.all(
    Array.from({ length: 1000 }, (_, n) => link.request('POST', '/echo', { body: { n } })),
  )
  expect(answers.map((answer) => answer.json())).toEqual(Array.from({ length: 1000 }, (_, n) => ({ n })))
})

test('a stream of 100 MB arrives whole while events flow on the other channel', async () => {
  const total = 100 * 1024 * 1024
  let tick: (() => void) | undefined
  const handler: LinkHandler = (request) => {
    if (new URL(request.url).pathname === '/bulk') return new Response(produce(total, { bytes: 0 }))
    const lines = new ReadableStream<Uint8Array>({
      start: (controller) => {
        let n = 0
        tick = () => controller.enqueue(new TextEncoder().encode(`${JSON.stringify({ n: n++ })}\n`))
      },
    })
    return new Response(lines)
  }
  void dial(handler, 'control')
  const control = await arrival(0)
  void dial(handler, 'bulk')
  const bulk = await arrival(1)
  expect(bulk.channel).toBe('bulk')

  const events = createInterface({ input: (await control.link.stream('GET', '/events')).stream })
  const { stream } = await bulk.link.stream('GET', '/bulk')
  let received = 0
  let mostBetween = 0
  const whole = (async () => {
    for await (const chunk of stream) received += (chunk as Buffer).length
  })()
  let over = false
  void whole.then(() => {
    over = true
  })
  const lines = events[Symbol.asyncIterator]()
  let count = 0
  while (!over) {
    const before = received
    tick?.()
    const line = await lines.next()
    expect(JSON.parse(line.value as string)).toEqual({ n: count++ })
    mostBetween = Math.max(mostBetween, received - before)
  }
  await whole
  expect(received).toBe(total)
  expect(count).toBeGreaterThan(10)
  // No event waits for more than a part of the stream, however slow the machine is.
  expect(mostBetween).toBeLessThan(total / 4)
})

test('readers who leave long responses unread do not use up the link', async () => {
  const piece = new Uint8Array(12 * 2 ** 20)
  void dial((request) => {
    if (new URL(request.url).pathname !== '/long') return new Response('short')
    return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) }))
  })
  const { link } = await arrival(0)
  // Together more than Node counts as memory of a session before it refuses all further streams.
  for (let reader = 0; reader < 40; reader++) {
    const { stream } = await link.stream('GET', '/long')
    await once(stream, 'data')
    stream.destroy()
  }
  expect((await link.request('GET', '/short')).status).toBe(200)
})

test('a slow reader pauses the producer, and destroying the stream cancels it', async () => {
  const made: { bytes: number; cancelled?: boolean } = { bytes: 0 }
  let aborted: (() => void) | undefined
  const wasAborted = new Promise<void>((resolve) => {
    aborted = resolve
  })
  void dial((request) => {
    request.signal.addEventListener('abort', () => aborted?.())
    return new Response(produce(Number.POSITIVE_INFINITY, made))
  })
  const { link } = await arrival(0)
  const { stream } = await link.stream('GET', '/endless')
  let before = -1
  while (before !== made.bytes) {
    before = made.bytes
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  expect(made.bytes).toBeGreaterThan(0)
  expect(made.bytes).toBeLessThan(16 * 1024 * 1024)
  stream.destroy()
  await wasAborted
  await expect.poll(() => made.cancelled).toBe(true)
})

test('a body that fails resets its stream, and only a handler that throws is logged as an error', async () => {
  const errors = vi.spyOn(logger, 'error')
  void dial((request) => {
    if (request.url.endsWith('/throws')) throw new Error('a fault')
    const pieces = ['begin', null]
    return new Response(
      new ReadableStream({
        pull: (controller) => {
          const piece = pieces.shift()
          if (piece) controller.enqueue(Buffer.from(piece))
          else controller.error(new Error('the keeper ended the reader'))
        },
      }),
    )
  })
  const { link } = await arrival(0)
  const { stream } = await link.stream('GET', '/breaks')
  await expect(stream.toArray()).rejects.toThrow()
  expect(errors).not.toHaveBeenCalled()
  await expect(link.stream('GET', '/throws')).rejects.toThrow()
  expect(errors).toHaveBeenCalledOnce()
  errors.mockRestore()
})

test('an agent that does not read pauses an upload, which then arrives whole', async () => {
  let release: (() => void) | undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  void dial(async (request) => {
    await released
    let size = 0
    for await (const chunk of request.body ?? []) size += chunk.length
    return Response.json({ size })
  })
  const { link } = await arrival(0)
  const total = 32 * 1024 * 1024
  const made = { bytes: 0 }
  const answer = link.request('POST', '/upload', { body: Readable.from(produce(total, made)) })
  let before = -1
  while (before !== made.bytes) {
    before = made.bytes
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  expect(made.bytes).toBeGreaterThan(0)
  expect(made.bytes).toBeLessThan(16 * 1024 * 1024)
  release?.()
  expect((await answer).json()).toEqual({ size: total })
})

test('the agent may respond before it reads the body', async () => {
  void dial(() => Response.json({ early: true }))
  const { link } = await arrival(0)
  const answer = await link.request('POST', '/early', { body: { text: 'x'.repeat(100_000) } })
  expect(answer.json()).toEqual({ early: true })
})

test('a signal or a timeout ends a call and aborts the handler', async () => {
  const aborted: string[] = []
  void dial((request) => {
    const { pathname } = new URL(request.url)
    return new Promise((resolve) => {
      request.signal.addEventListener('abort', () => {
        aborted.push(pathname)
        resolve(new Response())
      })
    })
  })
  const { link } = await arrival(0)
  await expect(link.request('GET', '/slow', { timeoutMs: 100 })).rejects.toBeInstanceOf(LinkTimeout)
  const leaving = new AbortController()
  const call = link.request('GET', '/left', { signal: leaving.signal })
  setTimeout(() => leaving.abort(new Error('left')), 100)
  await expect(call).rejects.toThrow('left')
  await expect.poll(() => aborted).toEqual(['/slow', '/left'])
})

test('a broken socket rejects pending calls and streams, and the agent dials again', async () => {
  let aborts = 0
  void dial((request) => {
    if (new URL(request.url).pathname === '/now') return new Response('here')
    request.signal.addEventListener('abort', () => aborts++)
    if (new URL(request.url).pathname === '/stream') return new Response(new ReadableStream())
    return new Promise(() => undefined)
  })
  const { link, raw } = await arrival(0)
  const calls = Array.from({ length: 20 }, () => link.request('GET', '/never').catch((error) => error))
  const { stream } = await link.stream('GET', '/stream')
  const streamEnd = new Promise((resolve) => stream.once('error', resolve))
  stream.resume()
  let told = false
  link.onClose(() => {
    told = true
  })
  raw.destroy()
  for (const outcome of await Promise.all(calls)) expect(outcome).toBeInstanceOf(HostUnreachable)
  expect(await streamEnd).toBeInstanceOf(HostUnreachable)
  await link.closed
  expect([told, link.isClosed]).toEqual([true, true])
  await expect(link.request('GET', '/now')).rejects.toBeInstanceOf(HostUnreachable)
  await expect.poll(() => aborts).toBe(21)

  const next = await arrival(1)
  expect((await next.link.request('GET', '/now')).body.toString()).toBe('here')
  next.link.close(4000, 'replaced')
  const third = await arrival(2)
  expect((await third.link.request('GET', '/now')).status).toBe(200)
})

test('a link whose peer falls silent is closed, and the agent dials again', async () => {
  times = { pingEveryMs: 50, silentAfterMs: 300 }
  // Bytes that arrive before the silence is detected are still delivered, so this handler must never respond.
  const never = Promise.withResolvers<Response>().promise
  void dial((request) => (request.url.endsWith('/lost') ? never : new Response('here')))
  const { link, raw } = await arrival(0)
  await link.request('GET', '/')
  raw.pause()
  await expect(link.request('GET', '/lost')).rejects.toBeInstanceOf(HostUnreachable)
  const next = await arrival(1)
  expect((await next.link.request('GET', '/')).status).toBe(200)
})

test('a link survives a pause of the process that watches it', async () => {
  times = { pingEveryMs: 20, silentAfterMs: 200 }
  void dial(() => new Response('here'))
  const { link } = await arrival(0)
  await link.request('GET', '/')
  const until = performance.now() + 500
  while (performance.now() < until);
  // The timer fires before the process has read the peer's pongs.
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(link.isClosed).toBe(false)
  expect((await link.request('GET', '/')).status).toBe(200)
  expect(accepted).toHaveLength(1)
})

test('a refused credential stops dialling, a failing server does not', async () => {
  expect(await dial(() => new Response(), 'control', 'wrong')).toBe('refused')
  refuseWith = '503 Service Unavailable'
  const dialled = dial(() => new Response('here'))
  setTimeout(() => {
    refuseWith = undefined
  }, 250)
  const { link } = await arrival(0)
  expect((await link.request('GET', '/')).status).toBe(200)
  stop.abort()
  expect(await dialled).toBe('stopped')
  await link.closed
})

test('a handler that keeps only the signal is aborted even after a garbage collection', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const calls = 50
  let begun = 0
  let left = 0
  void dial(({ signal }) => {
    begun += 1
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        left += 1
        resolve(new Response())
      })
    })
  })
  const { link } = await arrival(0)
  const gone = new AbortController()
  const answers = Promise.allSettled(
    Array.from({ length: calls }, () => link.request('GET', '/waits', { signal: gone.signal })),
  )
  await expect.poll(() => begun).toBe(calls)
  collectGarbage()
  // The second collection clears the weak references to what the first found unreachable.
  await new Promise((resolve) => setImmediate(resolve))
  collectGarbage()
  gone.abort()
  await answers
  await expect.poll(() => left).toBe(calls)
})

describe('a request that cannot be handed to anyone', () => {
  let session: ServerHttp2Session
  let client: ClientHttp2Session
  let failures: unknown[]
  beforeEach(() => {
    const [ours, theirs] = duplexPair()
    for (const end of [ours, theirs]) end.on('error', () => undefined)
    failures = []
    session = serveLink(ours, { handler: () => new Response('whole') }, (error) => failures.push(error))
    client = connect('http://agent', { createConnection: () => theirs })
    client.on('error', () => undefined)
  })

  test.each([
    ['is no URL', { ':path': '//' }],
    ['has a method that Fetch refuses', { ':method': 'TRACE', ':path': '/' }],
  ])('as it %s is reset alone', async (_, head) => {
    const ask = async (asked: OutgoingHttpHeaders): Promise<string> =>
      (await client.request(asked).setEncoding('utf8').toArray()).join('')
    const uncaught = await uncaughtDuring(async () => {
      await expect(ask(head)).rejects.toThrow()
      expect(await ask({ ':path': '/' })).toBe('whole')
    })
    expect(uncaught).toEqual([])
    expect(failures).toEqual([expect.any(TypeError)])
  })

  test('may come just before the link breaks', async () => {
    const uncaught = await uncaughtDuring(async () => {
      const asked = client.request({ ':method': 'TRACE', ':path': '/' }, { endStream: false })
      asked.on('error', () => undefined)
      await once(session, 'stream')
      session.destroy(new Error('the link broke'))
      await expect.poll(() => asked.closed).toBe(true)
    })
    expect(uncaught).toEqual([])
  })
})
