import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createLogger } from '@dock/foundation'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocketServer } from 'ws'
import { type AgentLink, acceptLink } from './accept-link.ts'
import { dialLink } from './dial-link.ts'

let folder: string
let server: Server
let stop: AbortController
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dock-link-'))
  stop = new AbortController()
})
afterEach(async () => {
  stop.abort()
  await new Promise((resolve) => server.close(resolve))
  await rm(folder, { recursive: true })
})

/** A link over a Unix socket, as that of the embedded host. Such a socket buffers much less than TCP. */
const link = async (connect: NonNullable<Parameters<typeof dialLink>[0]['connect']>): Promise<AgentLink> => {
  const arrived = Promise.withResolvers<AgentLink>()
  const sockets = new WebSocketServer({ noServer: true })
  const path = join(folder, 'socket')
  server = createServer().on('upgrade', (request, raw, head) => {
    sockets.handleUpgrade(request, raw, head, (socket) => arrived.resolve(acceptLink(socket)))
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const logger = createLogger('test')
  logger.level = 'silent'
  void dialLink({
    ...{ url: `unix:${path}`, credential: 'right', hostId: 'host-1', session: 'session-1' },
    ...{ channel: 'bulk', signal: stop.signal, logger, connect },
    handler: () => new Response('a call'),
  })
  return arrived.promise
}

test('large streams in both directions at once do not stop each other', async () => {
  const accepted = await link(async ({ accept }) => {
    const stream = accept()
    stream.pipe(stream)
  })
  const bytes = randomBytes(20_000_000)
  const echoes = await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      const socket = await accepted.connect(`/docks/${index}/ports/1`)
      socket.end(bytes)
      return buffer(socket)
    }),
  )
  for (const echo of echoes) expect(echo.equals(bytes)).toBe(true)
})
