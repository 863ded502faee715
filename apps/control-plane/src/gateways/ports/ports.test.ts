import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { HostUnreachable } from '../../modules/hosts/index.ts'

let server: ControlPlaneWithHost
let gateway: number
let dockId: string
/** The public host name of the Dock's exposed port. */
let host: string
/** The program on that port. The simulated Dock runs it on this machine. */
let program: Server
let answer: (request: IncomingMessage, response: ServerResponse) => void
let seen: IncomingMessage[]

beforeAll(async () => {
  server = await startControlPlaneWithHost()
  gateway = (await server.listen()).port
})
afterAll(() => server.stop())

const portOf = (listening: { address(): unknown }): number => (listening.address() as AddressInfo).port
/** What the program sees as its host. */
const inDock = (): string => `localhost:${portOf(program)}`
const listen = async (): Promise<Server> => {
  const made = createServer((incoming, response) => {
    seen.push(incoming)
    answer(incoming, response)
  })
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return made
}
const expose = async (port: number, id = dockId): Promise<string> => {
  const exposed = await server.call('POST', `/v1/docks/${id}/ports`, { port })
  return new URL((exposed.body.data as { url: string }).url).host
}
beforeEach(async () => {
  seen = []
  answer = (_, response) => response.end('hello')
  program = await listen()
  dockId = await server.addDock()
  host = await expose(portOf(program))
})
afterEach(() => {
  program.close()
  program.closeAllConnections()
})

/** Long timeout for busy machines. */
const patiently = { timeout: 60_000 }

type Reply = {
  status: number
  reason?: string | undefined
  headers: IncomingMessage['headers']
  body: string
}

const open = (
  path: string,
  options: { method?: string; headers?: Record<string, string | string[]>; host?: string } = {},
) => {
  const headers = { host: options.host ?? host, ...options.headers }
  return request({ port: gateway, path, method: options.method ?? 'GET', headers, agent: false })
}
const replyOf = async (outgoing: ReturnType<typeof open>): Promise<Reply> => {
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const body = Buffer.concat(await response.toArray()).toString()
  return { status: response.statusCode ?? 0, reason: response.statusMessage, headers: response.headers, body }
}
const get = (path: string, options?: Parameters<typeof open>[1]): Promise<Reply> =>
  replyOf(open(path, options).end())

describe('a request', () => {
  it('reaches the program unchanged, and so does the response the client', async () => {
    answer = async (incoming, response) => {
      const body = Buffer.concat(await incoming.toArray()).toString()
      response
        .writeHead(418, 'Teapot', { 'x-answer': 'yes', 'set-cookie': ['a=1', 'b=2'] })
        .end(`got ${body}`)
    }
    const outgoing = open('/a%20path?q=1&q=2', {
      method: 'PUT',
      headers: { 'x-asked': 'this', cookie: 'mine=1' },
    })
    const reply = await replyOf(outgoing.end('text'))
    expect(reply).toMatchObject({ status: 418, body: 'got text', headers: { 'x-answer': 'yes' } })
    expect(reply.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(seen[0]).toMatchObject({ method: 'PUT', url: '/a%20path?q=1&q=2' })
    expect(seen[0]?.headers).toMatchObject({ host: inDock(), 'x-asked': 'this', cookie: 'mine=1' })
  })

  it('carries the true client address, whatever its own forwarding headers say', async () => {
    await get('/', {
      headers: {
        'x-forwarded-for': '1.2.3.4',
        'x-forwarded-host': 'evil.test',
        'x-forwarded-proto': 'gopher',
        forwarded: 'for=1.2.3.4',
        'x-real-ip': '1.2.3.4',
      },
    })
    expect(seen[0]?.headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': host,
      'x-forwarded-proto': 'http',
      'x-forwarded-port': '8080',
    })
    for (const name of ['forwarded', 'x-real-ip']) expect(seen[0]?.headers).not.toHaveProperty(name)
  })

  it('loses the platform’s credentials, and keeps all others', async () => {
    const { apiKey } = server.admin
    for (const authorization of [`Bearer ${apiKey}`, `bearer   ${apiKey}`, `BEARER ${apiKey}`])
      await get('/', { headers: { authorization } })
    const { cookie } = await server.signIn()
    await get('/', { headers: { cookie: `own=1; ${cookie}; __Host-dock.session_token=x; docked=2` } })
    await get('/', { headers: { cookie } })
    const received = seen.map(({ headers }) => [headers.authorization, headers.cookie])
    expect(received.slice(0, 3)).toEqual(Array.from({ length: 3 }, () => [undefined, undefined]))
    expect(received.slice(3)).toEqual([
      [undefined, 'own=1; docked=2'],
      [undefined, undefined],
    ])
    await get('/', { headers: { authorization: 'Bearer theirs' } })
    expect(seen.at(-1)?.headers.authorization).toBe('Bearer theirs')
  })

  it('loses hop-by-hop headers, including those named in Connection, but never its length', async () => {
    const body = 'x'.repeat(10)
    const outgoing = open('/', {
      method: 'POST',
      headers: {
        connection: 'close, x-hop, content-length, host',
        'x-hop': '1',
        te: 'trailers',
        'proxy-authorization': 'Basic x',
        'content-length': '10',
      },
    })
    answer = async (incoming, response) =>
      response.end(String(Buffer.concat(await incoming.toArray()).length))
    expect((await replyOf(outgoing.end(body))).body).toBe('10')
    for (const name of ['x-hop', 'te', 'proxy-authorization'])
      expect(seen[0]?.headers).not.toHaveProperty(name)
    expect(seen[0]?.headers).toMatchObject({
      host: inDock(),
      'content-length': '10',
      connection: 'keep-alive',
    })
  })

  it('gets cookies for its own host name only, whatever domain the Dock sets', async () => {
    answer = (_, response) =>
      response
        .writeHead(200, {
          'set-cookie': [
            'a=1; Domain=.docks.localhost; Path=/; HttpOnly',
            'b=domain=x; domain = docks.localhost ;Secure; DOMAIN=other.test',
            'c=1; Domain',
          ],
        })
        .end()
    expect((await get('/')).headers['set-cookie']).toEqual([
      'a=1; Path=/; HttpOnly',
      'b=domain=x;Secure',
      'c=1',
    ])
  })

  it('is streamed in both directions', async () => {
    answer = (incoming, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      incoming.on('data', (chunk: Buffer) => response.write(`data: ${chunk}\n\n`))
      incoming.on('end', () => response.end('data: over\n\n'))
    }
    const outgoing = open('/events', { method: 'POST' })
    outgoing.write('one')
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    const said = response.setEncoding('utf8')[Symbol.asyncIterator]()
    expect((await said.next()).value).toBe('data: one\n\n')
    outgoing.write('two')
    expect((await said.next()).value).toBe('data: two\n\n')
    outgoing.end()
    expect((await said.next()).value).toBe('data: over\n\n')
    expect((await said.next()).done).toBe(true)
  })

  it('may be large, and so may its response', async () => {
    const block = randomBytes(1024 * 1024)
    const blocks = 48
    const whole = createHash('sha256')
    for (let count = 0; count < blocks; count += 1) whole.update(block)
    const digest = whole.digest('hex')
    answer = (incoming, response) => void incoming.pipe(response)
    const outgoing = open('/', { method: 'POST' })
    Readable.from(Array.from({ length: blocks }, () => block)).pipe(outgoing)
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    const received = createHash('sha256')
    for await (const chunk of response) received.update(chunk as Buffer)
    expect(received.digest('hex')).toBe(digest)
  })

  it('may have an address and headers of 32 KiB, and so may its response', async () => {
    answer = (incoming, response) => {
      response.setHeader('x-large', 'y'.repeat(32_000))
      response.end(`${incoming.url?.length} ${String(incoming.headers['x-large']).length}`)
    }
    program.close()
    program.closeAllConnections()
    program = createServer({ maxHeaderSize: 64 * 1024 }, (...args) => answer(...args))
    await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve))
    const large = await expose(portOf(program))
    const ask = (path: string, header: string) => {
      const headers = { host: large, 'x-large': header }
      const options = { port: gateway, path, headers, agent: false, maxHeaderSize: 64 * 1024 }
      return replyOf(request(options).end())
    }
    const reply = await ask('/', 'x'.repeat(32_768))
    expect([reply.status, reply.body, reply.headers['x-large']?.length]).toEqual([200, '1 32768', 32_000])
    expect((await ask(`/${'x'.repeat(32_767)}`, 'x')).body).toBe('32768 1')
    expect((await ask('/', 'x'.repeat(41_000))).status).toBe(431)
  })

  it('is ended in the Dock too when its client disconnects', async () => {
    const left = new Promise<void>((resolve) => {
      answer = (_, response) => {
        response.once('close', resolve)
        response.write('begin')
      }
    })
    const outgoing = open('/').end()
    await once(outgoing, 'response')
    outgoing.destroy()
    await left
  })

  it('shares a connection with later requests, and is retried if that connection had just closed', async () => {
    const connections = new Set<Socket>()
    program.on('connection', (socket) => connections.add(socket))
    for (let count = 0; count < 20; count += 1) expect((await get('/')).status).toBe(200)
    expect(connections.size).toBe(1)
    // Like a program that closes an idle connection.
    let tries = 0
    answer = (_, response) => {
      tries += 1
      if (tries === 1) response.destroy()
      else response.end('again')
    }
    expect(await get('/')).toMatchObject({ status: 200, body: 'again' })
    tries = 0
    const written = await replyOf(open('/', { method: 'POST' }).end('once'))
    expect([written.status, tries]).toEqual([502, 1])
  })
})

describe('a name', () => {
  it.each([
    ['HTTP/1.1', 'connection: close\r\n'],
    ['HTTP/1.0', ''],
  ])(
    'in a request of %s that does not keep the connection alive gets it closed after the response',
    patiently,
    async (version, header) => {
      const socket = connect({ host: '127.0.0.1', port: gateway })
      socket.write(`GET / ${version}\r\nhost: ${host}\r\n${header}\r\n`)
      const text = Buffer.concat(await socket.toArray()).toString()
      expect(text).toMatch(/^HTTP\/1\.1 200 .*connection: close.*hello$/is)
    },
  )

  it('below the ports’ domain never reaches the API, and other names never reach a port', async () => {
    expect((await get('/health')).body).toBe('hello')
    expect((await get('/v1/config', { headers: { accept: 'application/json' } })).body).toBe('hello')
    expect((await get('/health', { host: '127.0.0.1' })).body).toContain('ready')
    expect((await get('/', { host: 'docks.localhost.evil.test' })).status).toBe(404)
    expect(seen).toHaveLength(2)
  })

  it('that belongs to no port gets a page, or plain text for clients other than browsers', async () => {
    const [port = ''] = host.split('-')
    const label = host.slice(port.length + 1).split('.')[0]!
    for (const unknown of [
      'docks.localhost',
      `${port}-${'a'.repeat(20)}.docks.localhost`,
      `${Number(port) + 1}-${label}.docks.localhost`,
      `x.${host}`,
    ]) {
      const page = await get('/', { host: unknown, headers: { accept: 'text/html,*/*' } })
      expect([unknown, page.status, page.headers['content-type']]).toEqual([
        unknown,
        404,
        'text/html; charset=utf-8',
      ])
      expect(page.body).toContain('<h1>There is nothing at this address</h1>')
    }
    const text = await get('/', { host: 'docks.localhost' })
    expect([text.headers['content-type'], text.body.includes('<')]).toEqual([
      'text/plain; charset=utf-8',
      false,
    ])
    expect(seen).toEqual([])
  })

  it('stops working as soon as the port is unexposed; exposing the port again gives a new name', async () => {
    expect((await get('/')).status).toBe(200)
    await server.call('DELETE', `/v1/docks/${dockId}/ports/${portOf(program)}`)
    await expect.poll(async () => (await get('/')).status, patiently).toBe(404)
    const another = await expose(portOf(program))
    expect((await get('/', { host: another })).status).toBe(200)
    expect((await get('/')).status).toBe(404)
  })

  it('of a stopped Dock gets a page that says so, and works again after a resume', async () => {
    expect((await get('/')).status).toBe(200)
    await server.call('POST', `/v1/docks/${dockId}/stop`, {})
    const stopped = async () => get('/', { headers: { accept: 'text/html' } })
    await expect.poll(async () => (await stopped()).status, patiently).toBe(502)
    expect((await stopped()).body).toContain('The Dock is stopped')
    const told = await get('/', { headers: { accept: 'application/json, text/plain, */*' } })
    expect([told.status, told.headers['content-type'], JSON.parse(told.body)]).toEqual([
      502,
      'application/json; charset=utf-8',
      {
        ok: false,
        code: 'dock_not_running',
        state: 'archived',
        message: expect.stringContaining('Its owner resumes it'),
      },
    ])
    for (const secret of [dockId, server.admin.organizationId, 'name'])
      expect(told.body).not.toContain(secret)
    await server.call('POST', `/v1/docks/${dockId}/resume`, {})
    await expect.poll(async () => (await get('/')).status, patiently).toBe(200)
  })

  it('gets different pages if no program listens on the port and if the host is unreachable', async () => {
    const nothing = await expose(1)
    expect(await get('/', { host: nothing })).toMatchObject({
      status: 502,
      body: expect.stringContaining('Nothing is listening on this port'),
    })
    server.host.connections.unreachable = new HostUnreachable('no link')
    const away = await expose(2)
    const reply = await get('/', { host: away })
    server.host.connections.unreachable = null
    expect([reply.status, reply.body]).toEqual([502, expect.stringContaining('cannot be reached')])
  })

  it('gets a page if the program does not speak HTTP or closes the connection early', async () => {
    const speakers: string[] = [
      'SSH-2.0-OpenSSH_9\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n',
      '',
      'HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 099 Below\r\nContent-Length: 0\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: nonsense\r\n\r\n',
      'HTTP/1.1 101 Switching Protocols\r\n\r\n',
      'HTTP/1.1 102 Processing\r\n\r\n',
    ]
    for (const words of speakers) {
      const speaker = createTcpServer((socket) => socket.on('error', () => undefined).end(words))
      await new Promise<void>((resolve) => speaker.listen(0, '127.0.0.1', resolve))
      const name = await expose(portOf(speaker))
      expect(await get('/', { host: name })).toMatchObject({
        status: 502,
        body: expect.stringContaining('The response is incomplete or invalid'),
      })
      speaker.close()
    }
  })

  it('gets the standard reason if HTTP does not allow the reason of the program', async () => {
    const sent = { '\u0001': 'OK', 'a\u007Fb': 'OK', '\u00E9': '\u00E9', Fine: 'Fine', '': 'OK' }
    for (const [reason, received] of Object.entries(sent)) {
      const words = Buffer.from(`HTTP/1.1 200 ${reason}\r\nContent-Length: 2\r\n\r\nok`, 'latin1')
      const speaker = createTcpServer((socket) => socket.on('error', () => undefined).end(words))
      await new Promise<void>((resolve) => speaker.listen(0, '127.0.0.1', resolve))
      const name = await expose(portOf(speaker))
      expect(await get('/', { host: name })).toMatchObject({ status: 200, reason: received, body: 'ok' })
      speaker.close()
    }
  })
})

describe('a WebSocket', () => {
  let sockets: WebSocketServer
  beforeEach(() => {
    sockets = new WebSocketServer({ server: program })
    sockets.on('headers', (headers) => headers.push('Set-Cookie: a=1; Domain=docks.localhost; Path=/'))
    sockets.on('connection', (socket, incoming) => {
      seen.push(incoming)
      socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
    })
  })
  afterEach(() => {
    for (const client of sockets.clients) client.terminate()
    sockets.close()
  })

  it('carries messages both ways, without the platform’s credentials', async () => {
    const headers = {
      host,
      authorization: `Bearer ${server.admin.apiKey}`,
      cookie: 'dock.session_token=x; own=1',
    }
    const client = new WebSocket(`ws://127.0.0.1:${gateway}/socket?a=1`, ['chat'], { headers })
    const upgraded = once(client, 'upgrade') as Promise<[IncomingMessage]>
    await once(client, 'open')
    expect((await upgraded)[0].headers['set-cookie']).toEqual(['a=1; Path=/'])
    expect(client.protocol).toBe('chat')
    client.send('text')
    expect(String((await once(client, 'message'))[0])).toBe('text')
    const large = randomBytes(4 * 1024 * 1024)
    client.send(large)
    expect(((await once(client, 'message'))[0] as Buffer).equals(large)).toBe(true)
    expect(seen[0]?.url).toBe('/socket?a=1')
    expect(seen[0]?.headers).toMatchObject({
      host: inDock(),
      cookie: 'own=1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': host,
    })
    expect(seen[0]?.headers).not.toHaveProperty('authorization')
    client.close()
    expect((await once(client, 'close'))[0]).toBe(1005)
  })

  it('that cannot be opened gets an ordinary HTTP response', async () => {
    program.removeAllListeners('upgrade')
    answer = (_, response) => response.writeHead(403, { 'x-why': 'no' }).end('not here')
    const refusedBy = async (name: string): Promise<[number, string]> => {
      const client = new WebSocket(`ws://127.0.0.1:${gateway}/`, { headers: { host: name } })
      client.on('error', () => undefined)
      const [, response] = (await once(client, 'unexpected-response')) as [unknown, IncomingMessage]
      return [response.statusCode ?? 0, Buffer.concat(await response.toArray()).toString()]
    }
    expect(await refusedBy(host)).toEqual([403, 'not here'])
    expect((await refusedBy('docks.localhost'))[0]).toBe(404)
    const nothing = await refusedBy(await expose(1))
    expect(nothing).toEqual([502, expect.stringContaining('Nothing is listening')])
    const speaker = createTcpServer((socket) =>
      socket.on('error', () => undefined).end('HTTP/1.1 000 \u0001\r\nContent-Length: 2\r\n\r\nno'),
    )
    await new Promise<void>((resolve) => speaker.listen(0, '127.0.0.1', resolve))
    expect(await refusedBy(await expose(portOf(speaker)))).toEqual([502, 'no'])
    speaker.close()
  })

  it('is closed with its port, like an endless response; those of other ports stay open', async () => {
    const left: (string | undefined)[] = []
    answer = (incoming, response) => {
      response.once('close', () => left.push(incoming.headers.host)).write('begin')
    }
    sockets.on('connection', (socket, { headers }) => socket.once('close', () => left.push(headers.host)))
    const other = await listen()
    other.on('upgrade', (...args) => program.emit('upgrade', ...args))
    const otherHost = await expose(portOf(other))
    const enter = async (name: string) => {
      const client = new WebSocket(`ws://127.0.0.1:${gateway}/`, { headers: { host: name } })
      client.on('error', () => undefined)
      await once(client, 'open')
      const [download] = (await once(open('/', { host: name }).end(), 'response')) as [IncomingMessage]
      download.on('error', () => undefined).resume()
      return { client, download }
    }
    const cut = await enter(host)
    const kept = await enter(otherHost)
    const ended = [cut.client, cut.download].map(
      (each) => new Promise((resolve) => each.once('close', resolve)),
    )
    await server.call('DELETE', `/v1/docks/${dockId}/ports/${portOf(program)}`)
    await Promise.all(ended)
    // The connection in the Dock is closed too.
    await expect.poll(() => left, patiently).toEqual([inDock(), inDock()])
    kept.client.send('text')
    expect(String((await once(kept.client, 'message'))[0])).toBe('text')
    expect(kept.download.destroyed).toBe(false)
    kept.client.terminate()
    other.close()
    other.closeAllConnections()
  })

  it('is closed when the other end closes', async () => {
    const client = new WebSocket(`ws://127.0.0.1:${gateway}/`, { headers: { host } })
    await once(client, 'open')
    for (const each of sockets.clients) each.terminate()
    expect((await once(client, 'close'))[0]).toBe(1006)
  })
})

describe('request smuggling', () => {
  /** Sends raw bytes. Returns everything received until the connection closed or was silent for 1.5 s. */
  const exchange = (text: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect({ host: '127.0.0.1', port: gateway })
      let received = ''
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        received += chunk
      })
      socket.on('error', () => undefined)
      socket.once('close', () => resolve(received))
      socket.setTimeout(1_500, () => socket.destroy())
      socket.write(text, 'latin1')
    })
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n'
  const head = (lines: string): string => `POST /first HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n`

  it.each([
    [
      'length and chunks',
      () => `${head('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n')}0\r\n\r\n${smuggled}`,
    ],
    [
      'chunks and length',
      () =>
        `${head(`Transfer-Encoding: chunked\r\nContent-Length: ${5 + smuggled.length}\r\n`)}0\r\n\r\n${smuggled}`,
    ],
    ['two lengths', () => `${head('Content-Length: 0\r\nContent-Length: 40\r\n')}${smuggled}`],
    ['two lengths in one', () => `${head('Content-Length: 0, 40\r\n')}${smuggled}`],
    ['a signed length', () => `${head('Content-Length: +0\r\n')}${smuggled}`],
    ['a space before the colon', () => `${head('Content-Length : 40\r\n')}${smuggled}`],
    ['chunks twice', () => `${head('Transfer-Encoding: chunked, chunked\r\n')}0\r\n\r\n${smuggled}`],
    ['an unknown transfer encoding', () => `${head('Transfer-Encoding: xchunked\r\n')}0\r\n\r\n${smuggled}`],
    ['chunks not last', () => `${head('Transfer-Encoding: chunked, identity\r\n')}0\r\n\r\n${smuggled}`],
    ['a folded header', () => `${head('Transfer-Encoding:\r\n chunked\r\n')}0\r\n\r\n${smuggled}`],
    ['a bare line feed', () => `${head('X: 1\nTransfer-Encoding: chunked\r\n')}0\r\n\r\n${smuggled}`],
    ['a bare carriage return', () => `${head('X: 1\rTransfer-Encoding: chunked\r\n')}0\r\n\r\n${smuggled}`],
    ['a NUL in a header', () => `${head('X: \x00\r\n')}${smuggled}`],
    [
      'a chunk that overflows',
      () => `${head('Transfer-Encoding: chunked\r\n')}ffffffffffffffff1\r\n${smuggled}`,
    ],
    [
      'a chunk size with more behind it',
      () => `${head('Transfer-Encoding: chunked\r\n')}0 x\n\r\n${smuggled}`,
    ],
  ])('is impossible with %s', async (_, text) => {
    answer = async (incoming, response) => {
      await incoming.toArray().catch(() => undefined)
      response.end('answered')
    }
    const received = await exchange(text())
    // The gateway may see a second request for the host `x`, which belongs to no port. The Dock must not see it.
    expect(seen.map(({ url }) => url)).not.toContain('/smuggled')
    expect(seen.length).toBeLessThanOrEqual(1)
    expect(received).toMatch(/^(HTTP\/1\.1 (400|404|200)|$)/)
  })

  it.each([
    ['two hosts', () => `${head('Host: other.test\r\n')}`],
    ['an absolute URL', () => `GET http://${host}/smuggled HTTP/1.1\r\nHost: ${host}\r\n\r\n`],
  ])('is impossible with two destinations: %s', async (_, text) => {
    expect(await exchange(text())).toMatch(/^HTTP\/1\.1 400 /)
    expect(seen).toEqual([])
  })

  it('is impossible behind an upgrade that the program does not accept', async () => {
    answer = (_, response) => response.end('no upgrade')
    const upgrade = `GET /first HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`
    const received = await exchange(`${upgrade}GET /smuggled HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    expect(seen.map(({ url }) => url)).toEqual(['/first'])
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1)
  })

  it('is impossible by an upgrade to another protocol, which is served as an ordinary request', async () => {
    const received = await exchange(
      `GET /first HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    )
    expect(received).toMatch(/^HTTP\/1\.1 200/)
    expect(seen).toHaveLength(1)
    for (const name of ['upgrade', 'http2-settings']) expect(seen[0]?.headers).not.toHaveProperty(name)
  })
})
