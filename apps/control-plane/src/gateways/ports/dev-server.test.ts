/** `npm run dev` behind a public name: a real Vite server, and programs that compare hosts as other servers do. */
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { createServer as createVite, type ViteDevServer } from 'vite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'

let server: ControlPlaneWithHost
let gateway: number
let dockId: string
beforeAll(async () => {
  server = await startControlPlaneWithHost({
    environment: { DOCK_PUBLIC_URL: 'https://dock.example.test', PORTS_DOMAIN: 'docks.example.com' },
  })
  gateway = (await server.listen()).port
  dockId = await server.addDock()
})
afterAll(() => server.stop())

const expose = async (port: number): Promise<string> => {
  const exposed = await server.call('POST', `/v1/docks/${dockId}/ports`, { port })
  return new URL((exposed.body.data as { url: string }).url).host
}
const setHost = async (port: number, host: string): Promise<void> => {
  const { status, body } = await server.call('PATCH', `/v1/docks/${dockId}/ports/${port}`, { host })
  expect([status, body]).toEqual([200, { ok: true, data: { port, host } }])
}
const get = async (host: string, path: string, headers: Record<string, string> = {}) => {
  const outgoing = request({ port: gateway, path, headers: { host, ...headers }, agent: false }).end()
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const body = Buffer.concat(await response.toArray()).toString()
  return { status: response.statusCode, headers: response.headers, body }
}
/** Opens a WebSocket as a page of `origin` does. Resolves with its first message, or the status of the refusal. */
const socketOf = async (host: string, path: string, origin: string, protocol: string): Promise<unknown> => {
  const client = new WebSocket(`ws://127.0.0.1:${gateway}${path}`, [protocol], { headers: { host, origin } })
  try {
    return await new Promise((resolve) => {
      client.on('error', () => undefined)
      client.once('message', (data) => resolve(JSON.parse(String(data))))
      client.once('unexpected-response', (_, response) => resolve(response.statusCode))
    })
  } finally {
    client.terminate()
  }
}

describe('a development server of Vite', () => {
  let vite: ViteDevServer
  let folder: string
  let port: number
  let host: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dock-vite-'))
    await writeFile(join(folder, 'index.html'), '<script type="module" src="/main.js"></script><p>my page')
    await writeFile(join(folder, 'main.js'), 'import.meta.hot?.accept(); console.log("my program")')
    vite = await createVite({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      cacheDir: join(folder, 'cache'),
      optimizeDeps: { noDiscovery: true },
      server: { port: 0, host: '127.0.0.1' },
    })
    await vite.listen()
    port = (vite.httpServer!.address() as AddressInfo).port
    host = await expose(port)
  })
  afterAll(async () => {
    await vite.close()
    await rm(folder, { recursive: true })
  })
  const token = async (): Promise<string> => {
    const { body } = await get(host, '/@vite/client')
    return /const wsToken = "([^"]+)"/.exec(body)?.[1] ?? 'none'
  }
  const hmr = async () => socketOf(host, `/?token=${await token()}`, `https://${host}`, 'vite-hmr')

  it('serves its page, its modules and its live reload without any setting', async () => {
    expect((await get(host, '/', { accept: 'text/html' })).body).toContain('my page')
    expect((await get(host, '/main.js')).body).toContain('my program')
    expect(await hmr()).toEqual({ type: 'connected' })
  })

  it('refuses the public name if the port keeps it, until the port does no more', async () => {
    await setHost(port, 'public')
    await expect.poll(async () => (await get(host, '/')).status).toBe(403)
    expect((await get(host, '/')).body).toContain('allowedHosts')
    await setHost(port, 'local')
    await expect.poll(async () => (await get(host, '/')).status).toBe(200)
  })
})

describe('a program', () => {
  let program: Server
  let sockets: WebSocketServer
  let port: number
  let host: string
  let seen: IncomingMessage[]
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  beforeEach(async () => {
    seen = []
    answer = (_, response) => response.end('hello')
    program = createServer((incoming, response) => {
      seen.push(incoming)
      answer(incoming, response)
    })
    // As webpack's server, Jupyter and most libraries for WebSockets do.
    sockets = new WebSocketServer({
      server: program,
      verifyClient: ({ origin, req }: { origin: string; req: IncomingMessage }) =>
        URL.parse(origin)?.host === req.headers.host,
    })
    sockets.on('connection', (socket) => socket.send('"hello"'))
    program.listen(0, '127.0.0.1')
    await once(program, 'listening')
    port = (program.address() as AddressInfo).port
    host = await expose(port)
  })
  afterEach(async () => {
    await server.call('DELETE', `/v1/docks/${dockId}/ports/${port}`)
    for (const client of sockets.clients) client.terminate()
    program.close()
    program.closeAllConnections()
  })

  it('sees localhost as its host, and the public name beside it, whatever the client says', async () => {
    await get(host, '/', {
      'x-forwarded-host': 'evil.test',
      'x-forwarded-proto': 'gopher',
      origin: `https://${host}`,
    })
    expect(seen[0]?.headers).toMatchObject({
      host: `localhost:${port}`,
      'x-forwarded-host': host,
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '443',
      // Forms are compared with X-Forwarded-Host.
      origin: `https://${host}`,
    })
  })

  it('that compares Origin and Host accepts WebSockets of its own pages, and of no others', async () => {
    expect(await socketOf(host, '/', `https://${host}`, 'a')).toBe('hello')
    expect(await socketOf(host, '/', `https://${host.toUpperCase()}`, 'a')).toBe('hello')
    for (const other of ['https://evil.test', `http://${host}`, `https://${host}.evil.test`, 'null'])
      expect(await socketOf(host, '/', other, 'a').catch(() => 401)).toBe(401)
    await setHost(port, 'public')
    await expect.poll(() => socketOf(host, '/', `https://${host}`, 'a')).toBe('hello')
  })

  it.each([
    ['http://localhost:PORT/next?a=1', 'https://HOST/next?a=1'],
    ['https://localhost:PORT', 'https://HOST'],
    ['//localhost:PORT/next', '//HOST/next'],
    ['/next', '/next'],
    ['next', 'next'],
    ['http://localhost:PORT1/next', 'http://localhost:PORT1/next'],
    ['http://localhost:PORT@evil.test/', 'http://localhost:PORT@evil.test/'],
    ['http://localhost/next', 'http://localhost/next'],
    [
      'https://accounts.test/?back=http://localhost:PORT/',
      'https://accounts.test/?back=http://localhost:PORT/',
    ],
  ])('that redirects to %s sends its visitor to %s', async (sent, received) => {
    const fill = (text: string): string => text.replace('PORT', String(port)).replace('HOST', host)
    answer = (_, response) =>
      response.writeHead(302, { location: fill(sent), 'content-location': fill(sent) }).end()
    const { headers } = await get(host, '/')
    const expected = fill(received)
    expect([headers.location, headers['content-location']]).toEqual([expected, expected])
  })

  it('that gets the public name redirects as it wants', async () => {
    await setHost(port, 'public')
    answer = (_, response) => response.writeHead(302, { location: `http://localhost:${port}/` }).end()
    await expect.poll(async () => (await get(host, '/')).headers.location).toBe(`http://localhost:${port}/`)
    expect(seen.at(-1)?.headers).toMatchObject({ host, 'x-forwarded-host': host })
  })

  it('that sets a cookie for localhost sets it for the public name', async () => {
    answer = (_, response) => response.setHeader('set-cookie', 'a=1; Domain=localhost; Secure').end()
    expect((await get(host, '/')).headers['set-cookie']).toEqual(['a=1; Secure'])
  })
})

it('an address keeps its Host over a new exposure of the same port, and a port that is not exposed has none', async () => {
  const host = await expose(3)
  await setHost(3, 'public')
  expect(await expose(3)).toBe(host)
  expect((await server.call('PATCH', `/v1/docks/${dockId}/ports/4`, { host: 'public' })).body).toMatchObject({
    code: 'port_not_found',
  })
})
