/** HTTP/2 without TLS through the gateway, to programs that speak HTTP/2 and to others. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttp1, type Server } from 'node:http'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import { promisify } from 'node:util'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'

let server: ControlPlaneWithHost
let gateway: number
let dockId: string
let client: ClientHttp2Session
/** A program that speaks HTTP/2 alone, as servers of gRPC do. */
let program: Http2Server
let host: string
let seen: IncomingHttpHeaders[]
let answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void

const portOf = (listening: { address(): unknown }): number => (listening.address() as AddressInfo).port
const expose = async (port: number): Promise<string> => {
  const exposed = await server.call('POST', `/v1/docks/${dockId}/ports`, { port })
  return new URL((exposed.body.data as { url: string }).url).host
}
beforeAll(async () => {
  server = await startControlPlaneWithHost()
  gateway = (
    await server.listen({
      headersMs: 300,
      requestMs: 60_000,
      silenceMs: 60_000,
      refusedMs: 100,
      lostMs: 30_000,
    })
  ).port
})
afterAll(() => server.stop())
beforeEach(async () => {
  seen = []
  answer = (stream) => {
    stream.respond({ ':status': 200 })
    stream.end('hello')
  }
  program = createServer()
  program.on('sessionError', () => undefined)
  program.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    seen.push(headers)
    answer(stream, headers)
  })
  program.listen(0, '127.0.0.1')
  await once(program, 'listening')
  dockId = await server.addDock()
  host = await expose(portOf(program))
  client = connect(`http://127.0.0.1:${gateway}`)
  client.on('error', () => undefined)
})
afterEach(() => {
  client.destroy()
  program.close()
})

type Reply = {
  status: number
  headers: IncomingHttpHeaders
  body: string
  trailers: IncomingHttpHeaders
  isEnd: boolean
}
const start = (headers: OutgoingHttpHeaders = {}): ClientHttp2Stream => {
  const stream = client.request({ ':path': '/', ':authority': host, ...headers }, { endStream: false })
  return stream.on('error', () => undefined)
}
const replyOf = async (stream: ClientHttp2Stream): Promise<Reply> => {
  let trailers: IncomingHttpHeaders = {}
  stream.once('trailers', (received) => {
    trailers = received
  })
  const [headers, flags] = (await once(stream, 'response')) as [IncomingHttpHeaders, number]
  const body = Buffer.concat(await stream.toArray()).toString()
  const isEnd = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0
  return { status: Number(headers[':status']), headers, body, trailers, isEnd }
}
const ask = async (headers: OutgoingHttpHeaders = {}, body?: string): Promise<Reply> => {
  const stream = client.request(
    { ':path': '/', ':authority': host, ...headers },
    { endStream: body === undefined },
  )
  stream.on('error', () => undefined)
  if (body !== undefined) stream.end(body)
  return replyOf(stream)
}
/** The code with which a request ends that gets no response. */
const codeOf = async (stream: ClientHttp2Stream): Promise<number> => {
  stream.resume()
  if (!stream.closed) await new Promise((resolve) => stream.once('close', resolve))
  return stream.rstCode ?? -1
}

describe('a program that speaks HTTP/2', () => {
  it('gets the request of curl, and curl its response', async () => {
    const { stdout } = await promisify(execFile)('curl', [
      ...['-sS', '--http2-prior-knowledge', '-w', ' %{http_version} %{http_code}'],
      ...['-H', `Host: ${host}`, '-d', 'text', `http://127.0.0.1:${gateway}/a?b=1`],
    ])
    expect(stdout).toBe('hello 2 200')
    expect(seen[0]).toMatchObject({ ':method': 'POST', ':path': '/a?b=1', 'content-length': '4' })
  })

  it('sees localhost, the true origin, and none of the platform’s credentials', async () => {
    const { apiKey } = server.admin
    await ask({
      authorization: `Bearer ${apiKey}`,
      cookie: 'own=1; dock.session_token=x',
      te: 'trailers',
      'x-forwarded-for': '1.2.3.4',
      'x-forwarded-host': 'evil.test',
      forwarded: 'for=1.2.3.4',
    })
    expect(seen[0]).toMatchObject({
      ':authority': `localhost:${portOf(program)}`,
      ':scheme': 'http',
      te: 'trailers',
      cookie: 'own=1',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': host,
      'x-forwarded-proto': 'http',
    })
    for (const name of ['authorization', 'forwarded', 'host', 'connection'])
      expect(seen[0]).not.toHaveProperty(name)
  })

  it('streams both ways, and ends with trailers, as gRPC does', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'grpc-message': 'fine' }))
      stream.pipe(stream)
    }
    const stream = start({ ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' })
    let trailers: IncomingHttpHeaders = {}
    stream.once('trailers', (received) => {
      trailers = received
    })
    stream.write('one')
    await once(stream, 'response')
    const said = stream.setEncoding('utf8')[Symbol.asyncIterator]()
    expect((await said.next()).value).toBe('one')
    stream.end('two')
    expect((await said.next()).value).toBe('two')
    expect((await said.next()).done).toBe(true)
    expect(trailers).toMatchObject({ 'grpc-status': '0', 'grpc-message': 'fine' })
  })

  it('may answer with headers alone, as errors of gRPC do', async () => {
    answer = (stream) => stream.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true })
    expect(await ask({ ':method': 'POST', te: 'trailers' }, 'x')).toMatchObject({
      status: 200,
      body: '',
      isEnd: true,
      headers: { 'grpc-status': '12' },
    })
  })

  it('serves many requests of a visitor over one connection, which ends soon after the last', async () => {
    let connections = 0
    let open = 0
    program.on('session', (session) => {
      connections += 1
      open += 1
      session.once('close', () => {
        open -= 1
      })
    })
    const replies = await Promise.all(Array.from({ length: 90 }, () => ask()))
    expect(new Set(replies.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(['200 hello']))
    expect([connections, open]).toEqual([1, 1])
    await expect.poll(() => open, { timeout: 15_000 }).toBe(0)
    expect((await ask()).body).toBe('hello')
    expect(connections).toBe(2)
  })

  it('loses cookies’ domains and redirects to localhost', async () => {
    answer = (stream) => {
      stream.respond({
        ':status': 302,
        location: `http://localhost:${portOf(program)}/next`,
        'set-cookie': ['a=1; Domain=docks.localhost', 'b=2'],
      })
      stream.end()
    }
    const { headers } = await ask()
    expect([headers.location, headers['set-cookie']]).toEqual([`http://${host}/next`, ['a=1', 'b=2']])
  })

  it('that breaks off a response breaks it off for the visitor too', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200 })
      stream.write('begin')
      setTimeout(() => stream.session?.destroy(), 50)
    }
    const stream = start().end()
    await once(stream, 'response')
    expect(await codeOf(stream)).toBe(constants.NGHTTP2_INTERNAL_ERROR)
    answer = (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    expect((await ask()).status).toBe(502)
  })

  it('gets the trailers of its visitor, and none that HTTP/2 does not allow', async () => {
    const received = new Promise<IncomingHttpHeaders>((resolve) => {
      answer = (stream) => {
        stream.once('trailers', resolve)
        stream.respond({ ':status': 200 })
        stream.resume().once('end', () => stream.end('done'))
      }
    })
    const stream = client.request(
      { ':path': '/', ':method': 'POST', ':authority': host },
      { waitForTrailers: true },
    )
    stream.once('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1' }))
    stream.end('text')
    expect((await replyOf(stream)).body).toBe('done')
    expect(await received).toMatchObject({ 'x-sum': '1' })
  })

  it('sees that its visitor has left', async () => {
    const left = new Promise<void>((resolve) => {
      answer = (stream) => {
        stream.once('close', resolve)
        stream.respond({ ':status': 200 })
        stream.write('begin')
      }
    })
    const stream = start().end()
    await once(stream, 'response')
    stream.close(constants.NGHTTP2_CANCEL)
    await left
  })

  it('is cut off from its visitors when the port is closed', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200 })
      stream.write('begin')
    }
    const stream = start().end()
    await once(stream, 'response')
    const closed = codeOf(stream)
    await server.call('DELETE', `/v1/docks/${dockId}/ports/${portOf(program)}`)
    await closed
    expect((await ask()).status).toBe(404)
  })

  it('carries large bodies in both directions', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200 })
      stream.pipe(stream)
    }
    const body = 'x'.repeat(8 * 1024 * 1024)
    expect((await ask({ ':method': 'POST' }, body)).body.length).toBe(body.length)
  })

  it('has at most 256 requests at a time; the next gets a page', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200 })
      stream.write('begin')
    }
    const clients = Array.from({ length: 3 }, () => connect(`http://127.0.0.1:${gateway}`))
    const streams = Array.from({ length: 256 }, (_, n) => {
      const stream = clients[n % 3]!.request({ ':path': '/', ':authority': host })
      return stream.on('error', () => undefined)
    })
    await Promise.all(streams.map((stream) => once(stream, 'response')))
    expect(await ask()).toMatchObject({ status: 503, body: expect.stringContaining('Too many connections') })
    for (const each of clients) each.destroy()
    await expect.poll(async () => await replyStatus(), { timeout: 15_000 }).toBe(200)
  })
  const replyStatus = async (): Promise<number> => {
    const stream = start().end()
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders]
    stream.close()
    return Number(headers[':status'])
  }
})

describe('a program that speaks HTTP/1 alone', () => {
  let old: Server
  let requests: string[]
  beforeEach(async () => {
    requests = []
    old = createHttp1(async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray()).toString()
      requests.push(`${incoming.method} ${incoming.url} ${incoming.httpVersion} ${body}`)
      response.writeHead(200, { trailer: 'x-sum', 'x-host': String(incoming.headers.host) })
      response.addTrailers({ 'x-sum': '1', 'set-cookie': 'a=1' })
      response.end('old')
    })
    old.listen(0, '127.0.0.1')
    await once(old, 'listening')
    host = await expose(portOf(old))
  })
  afterEach(() => {
    old.close()
    old.closeAllConnections()
  })

  it('gets the request in HTTP/1.1, whatever its method and body', async () => {
    expect(await ask({ te: 'trailers' })).toMatchObject({
      status: 200,
      body: 'old',
      trailers: { 'x-sum': '1' },
      headers: { 'x-host': `localhost:${portOf(old)}` },
    })
    expect((await ask({ te: 'trailers' })).trailers).not.toHaveProperty('set-cookie')
    expect((await ask()).trailers).not.toHaveProperty('x-sum')
    for (const method of ['GET', 'POST', 'DELETE']) await ask({ ':method': method }, `body of ${method}`)
    await ask({ ':method': 'DELETE' })
    expect(requests).toEqual([
      ...['GET / 1.1 ', 'GET / 1.1 ', 'GET / 1.1 ', 'GET / 1.1 body of GET', 'POST / 1.1 body of POST'],
      ...['DELETE / 1.1 body of DELETE', 'DELETE / 1.1 '],
    ])
  })

  it('may send any trailers, and the gateway lives', async () => {
    old.removeAllListeners('request')
    old.on('request', (_, response) =>
      response.socket?.end(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nhttp2-settings: a\r\nproxy-connection: b\r\netag: a\r\netag: b\r\n:status: 200\r\nx-\u00e9: \u00e9\r\n\r\n`,
      ),
    )
    await ask({ te: 'trailers' }).catch(() => undefined)
    old.removeAllListeners('request')
    old.on('request', (_, response) =>
      response.socket?.end(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nhttp2-settings: a\r\nproxy-connection: b\r\nx-sum: 2\r\n\r\n`,
      ),
    )
    expect(await ask({ te: 'trailers' })).toMatchObject({
      status: 200,
      body: 'x',
      trailers: { 'x-sum': '2' },
    })
  })

  it('gets no second request that hides in the body of a first', async () => {
    const hidden = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
    await ask({ ':method': 'GET' }, hidden)
    await ask()
    expect(requests).toEqual([`GET / 1.1 ${hidden}`, 'GET / 1.1 '])
  })

  it('serves no gRPC', async () => {
    expect((await ask({ ':method': 'POST', 'content-type': 'application/grpc+proto' }, 'x')).status).toBe(502)
  })
})

describe('a connection', () => {
  it('that ends or waits in the middle of the preface is closed', async () => {
    const socket = connectTcp(gateway, '127.0.0.1').on('error', () => undefined)
    socket.resume().write('PRI * HTTP/2.0\r\n\r\nSM')
    await once(socket, 'close')
  })

  it('may send the preface in pieces', async () => {
    const socket = connectTcp(gateway, '127.0.0.1')
    const whole = connect(`http://127.0.0.1:${gateway}`, { createConnection: () => socket })
    whole.on('error', () => undefined)
    const stream = whole.request({ ':path': '/', ':authority': host })
    expect((await replyOf(stream)).body).toBe('hello')
    whole.destroy()
    const raw = connectTcp(gateway, '127.0.0.1').on('error', () => undefined)
    let received = Buffer.alloc(0)
    raw.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk])
    })
    for (const piece of ['PRI * HT', 'TP/2.0\r\n', '\r\nSM\r\n', '\r\n\0\0\0\x04\0\0\0\0\0']) {
      raw.write(piece, 'latin1')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    // The settings of the server.
    await expect.poll(() => received[3]).toBe(4)
    raw.destroy()
  })

  it('that speaks HTTP/1 first cannot change to HTTP/2', async () => {
    const socket = connectTcp(gateway, '127.0.0.1').on('error', () => undefined)
    let received = ''
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text
    })
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    await once(socket, 'close')
    expect(received).toMatch(/^HTTP\/1\.1 /)
    expect(received).toMatch(/HTTP\/1\.1 400 Bad Request/)
  })

  it('lives on while nobody asks, longer than the time for headers of HTTP/1', async () => {
    expect((await ask()).status).toBe(200)
    const slow = connectTcp(gateway, '127.0.0.1').on('error', () => undefined)
    slow.resume().write('GET /health HTTP/1.1\r\n')
    await once(slow, 'close')
    expect((await ask()).status).toBe(200)
  })

  it('gets no more than a hundred requests at a time, and none with headers over 40 KiB', async () => {
    await once(client, 'remoteSettings')
    expect(client.remoteSettings).toMatchObject({ maxConcurrentStreams: 100, maxHeaderListSize: 40 * 1024 })
    expect((await ask({ 'x-large': 'x'.repeat(32_000) })).status).toBe(200)
    const stream = start({ 'x-large': 'x'.repeat(45_000) }).end()
    expect(await codeOf(stream)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
  })

  it('reaches neither the service nor another name', async () => {
    for (const name of [`127.0.0.1:${gateway}`, 'example.com', 'docks.localhost.evil.test'])
      expect(await codeOf(start({ ':authority': name }).end())).toBe(constants.NGHTTP2_HTTP_1_1_REQUIRED)
    expect((await ask({ ':authority': 'docks.localhost' })).status).toBe(404)
    expect((await ask({ host: 'docks.localhost' })).status).toBe(400)
    expect(seen).toEqual([])
  })

  it('of a Dock that is stopped gets its page', async () => {
    await server.call('POST', `/v1/docks/${dockId}/stop`, {})
    await expect
      .poll(async () => (await ask({ accept: 'application/json' })).status, { timeout: 30_000 })
      .toBe(502)
    expect(JSON.parse((await ask({ accept: 'application/json' })).body)).toMatchObject({
      code: 'dock_not_running',
    })
    expect((await ask({ ':method': 'HEAD' })).body).toBe('')
  })
})
