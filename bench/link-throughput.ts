/** Measures the throughput of a host's link alone, between two processes, as the reference for hosted ports. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLogger } from '@dock/foundation'
import { type AgentLink, acceptLink, dialLink } from '@dock/host-protocol'
import { WebSocketServer } from 'ws'

const isAgent = process.argv[2] === '--agent'

/** The agent's process. Every connection is a stream of zeros of the requested length. */
const serveZeros = async (url: string): Promise<void> => {
  const logger = createLogger('bench')
  logger.level = 'silent'
  const chunk = Buffer.alloc(64 * 1024)
  await dialLink({
    ...{ url, credential: 'x', hostId: 'x', session: 'x', channel: 'bulk', logger },
    signal: new AbortController().signal,
    handler: () => new Response(),
    connect: async ({ target, accept }) => {
      let left = Number(target.searchParams.get('bytes'))
      const stream = accept()
      const fill = (): void => {
        while (left > 0) {
          left -= chunk.length
          if (!stream.write(chunk)) return void stream.once('drain', fill)
        }
        stream.end()
      }
      stream.resume()
      fill()
    },
  })
}

/** Transfers this many megabytes over a link. Returns megabytes per second. */
export async function linkThroughput(megabytes: number): Promise<number> {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  const { promise: linked, resolve } = Promise.withResolvers<AgentLink>()
  const server = createServer().on('upgrade', (request, socket, head) => {
    sockets.handleUpgrade(request, socket, head, (webSocket) => resolve(acceptLink(webSocket)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const agent = fork(import.meta.filename, ['--agent', `http://127.0.0.1:${port}`])
  try {
    const link = await linked
    const begin = performance.now()
    const stream = await link.connect(`/zeros?bytes=${megabytes * 1024 * 1024}`)
    let received = 0
    for await (const chunk of stream) received += (chunk as Buffer).length
    return received / 1024 / 1024 / ((performance.now() - begin) / 1000)
  } finally {
    agent.kill('SIGKILL')
    server.close()
    server.closeAllConnections()
  }
}

if (isAgent) await serveZeros(process.argv[3] ?? '')
