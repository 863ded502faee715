/** Receivers of the proof on one loopback port: healthy, hanging, failing, and one kind that is gone after a while. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Kind = 'healthy' | 'hanging' | 'failing' | 'gone'
export type Arrival = { atMs: number; eventId: string; isSigned: boolean }

export type Receivers = {
  url(name: string): string
  add(name: string, kind: Kind): void
  /** Sets the secret with which requests to a receiver must be signed. */
  setSecret(name: string, secret: string): void
  arrivalsAt(name: string): Arrival[]
  /** When a receiver of kind `gone` first responded with 410. */
  goneAt(name: string): number | undefined
  /** Lets each receiver behave as its kind. Before, all are healthy. */
  beginFaults(): void
  close(): Promise<void>
}

const isSigned = (header: unknown, body: string, secret: string | undefined): boolean => {
  const [, seconds, mac] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(header)) ?? []
  return (
    secret !== undefined && mac === createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  )
}

export async function startReceivers(): Promise<Receivers> {
  const kinds = new Map<string, Kind>()
  const secrets = new Map<string, string>()
  const arrivals = new Map<string, Arrival[]>()
  const gone = new Map<string, number>()
  let areFaulty = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const name = (request.url ?? '').slice(1)
      const body = Buffer.concat(chunks).toString('utf8')
      const { id: eventId } = JSON.parse(body) as { id: string }
      arrivals.get(name)?.push({
        atMs: Date.now(),
        eventId,
        isSigned: isSigned(request.headers['dock-signature'], body, secrets.get(name)),
      })
      const kind = areFaulty ? kinds.get(name) : 'healthy'
      if (kind === 'hanging') return
      if (kind === 'gone' && !gone.has(name)) gone.set(name, Date.now())
      response.writeHead(kind === 'failing' ? 500 : kind === 'gone' ? 410 : 204).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: (name) => `http://127.0.0.1:${port}/${name}`,
    add: (name, kind) => {
      kinds.set(name, kind)
      arrivals.set(name, [])
    },
    setSecret: (name, secret) => void secrets.set(name, secret),
    arrivalsAt: (name) => arrivals.get(name) ?? [],
    goneAt: (name) => gone.get(name),
    beginFaults: () => {
      areFaulty = true
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
