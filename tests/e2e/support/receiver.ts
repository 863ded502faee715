/** A receiver of webhooks on loopback, over real HTTP. */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A status, or one with a body. */
type Answer = number | { status: number; body: string }

export type Received = { path: string; headers: IncomingHttpHeaders; body: string }

export type Receiver = {
  url(path: string): string
  /** All requests to a path, in the order in which they arrived. */
  receivedAt(path: string): Received[]
  /** Sets the next responses at a path. Afterwards it responds with 204. */
  respondWith(path: string, ...answers: Answer[]): void
  close(): Promise<void>
}

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  const answers = new Map<string, Answer[]>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const path = request.url ?? ''
      received.push({ path, headers: request.headers, body: Buffer.concat(chunks).toString('utf8') })
      const answer = answers.get(path)?.shift() ?? 204
      if (typeof answer === 'number') response.writeHead(answer).end()
      else response.writeHead(answer.status).end(answer.body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (path) => `http://127.0.0.1:${port}${path}`,
    receivedAt: (path) => received.filter((each) => each.path === path),
    respondWith: (path, ...next) => void answers.set(path, next),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
