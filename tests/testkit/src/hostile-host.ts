/** A host with a valid credential that sends whatever a test wants, over real links to a listening control plane. */
import { randomUUID } from 'node:crypto'
import { createLogger } from '@dock/foundation'
import { dialLink, type HostFacts, type LinkHandler, registeredHost } from '@dock/host-protocol'

export type HostileHost = {
  hostId: string
  credential: string
  /**
   * Writes to the event stream, as fast as the control plane reads. Throws once the control plane closed the session.
   */
  send(text: string | Uint8Array): Promise<void>
  /** Resolves when the control plane reads events. The bulk link may follow a moment later. */
  waitUntilLinked(): Promise<void>
  /** Returns how often the control plane has started to read events. */
  sessions(): number
  /** Sends `text` now and first in each later session, like an agent: text sent into a session that ends is lost. */
  sendInEachSession(text: string): Promise<void>
  close(): Promise<void>
}

const encoder = new TextEncoder()

/**
 * Registers with the token and connects. `answer` handles every call except the one for events. Where it returns null,
 * the response is `{}`.
 */
export async function joinHostileHost(options: {
  url: string
  joinToken: string
  facts: HostFacts
  answer?: (path: string, request: Request) => Response | Promise<Response> | null
}): Promise<HostileHost> {
  const { url, joinToken, facts, answer = () => null } = options
  const answered = await fetch(`${url}/v1/fleet/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ joinToken, facts }),
  })
  if (!answered.ok) throw new Error(`registration failed: ${answered.status} ${await answered.text()}`)
  const body = (await answered.json()) as { data?: unknown }
  const { hostId, credential } = registeredHost.parse(body.data ?? body)

  let writer: WritableStreamDefaultWriter<Uint8Array> | undefined
  let begun = 0
  let first: string | undefined
  let wake: () => void = () => undefined
  const handler: LinkHandler = async (request) => {
    const path = new URL(request.url).pathname
    if (path === '/events') {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
      writer = writable.getWriter()
      writer.closed.catch(() => undefined)
      begun += 1
      if (first !== undefined) void writer.write(encoder.encode(first)).catch(() => undefined)
      wake()
      return new Response(readable)
    }
    return (await answer(path, request)) ?? Response.json({})
  }
  const end = new AbortController()
  const logger = createLogger('hostile-host')
  logger.level = 'silent'
  const session = randomUUID()
  const links = (['control', 'bulk'] as const).map((channel) =>
    dialLink({ url, credential, hostId, session, channel, handler, logger, signal: end.signal }),
  )
  const send = async (text: string | Uint8Array): Promise<void> => {
    if (!writer) throw new Error('the control plane does not read events yet')
    await writer.ready
    await writer.write(typeof text === 'string' ? encoder.encode(text) : text)
  }
  return {
    hostId,
    credential,
    send,
    sendInEachSession: async (text) => {
      first = text
      // If the session ends now, the next session starts with the text.
      await send(text).catch(() => undefined)
    },
    waitUntilLinked: async () => {
      while (!writer) await new Promise<void>((resolve) => (wake = resolve))
    },
    sessions: () => begun,
    close: async () => {
      end.abort()
      await Promise.all(links)
    },
  }
}
