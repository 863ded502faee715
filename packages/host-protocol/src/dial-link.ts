/** The agent's side of the connection: dials the control plane, serves calls over the socket, dials again when it broke. */
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { dialledAddress, type Logger } from '@dock/foundation'
import { createWebSocketStream, WebSocket } from 'ws'
import { dialBack } from './dial-back.ts'
import { type LivenessTimes, watchLiveness } from './link-liveness.ts'
import type { ConnectHandler } from './serve-connection.ts'
import { type LinkHandler, serveLink } from './serve-link.ts'

export type LinkChannel = 'control' | 'bulk'

export type DialOptions = {
  /** The control plane's address: `http://…` or `https://…` without a path, or `unix:/path/of/socket`. */
  url: string
  credential: string
  hostId: string
  /** Names this run of the agent; both channels send the same. */
  session: string
  channel: LinkChannel
  handler: LinkHandler
  /** Takes connections to Docks; without it there are none. */
  connect?: ConnectHandler
  /** Ends the link and all dialling. */
  signal: AbortSignal
  logger: Logger
  /** Told of each change; `lost` follows each `connected`. */
  onState?: (state: 'connected' | 'lost') => void
  times?: LivenessTimes
}

/** Why dialling ended: the credential was refused (401, 403), or the caller's signal. */
export type DialEnd = 'refused' | 'stopped'

type Attempt = { end: 'refused' | 'failed' | 'lost'; detail: string; livedMs: number }

const firstDelayMs = 200
const delayMsMax = 5_000
/** A link that lived this long was a good one: the next attempt comes at once. */
const goodLinkMs = 1_000

const attempt = (options: DialOptions): Promise<Attempt> =>
  new Promise((resolve) => {
    const { channel, logger, signal } = options
    const { base, socketPath } = dialledAddress(options.url)
    const address = new URL(`/v1/fleet/connect?channel=${channel}`, base)
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
    const socket = new WebSocket(address, {
      headers: {
        authorization: `Bearer ${options.credential}`,
        'x-dock-host': options.hostId,
        'x-dock-session': options.session,
      },
      perMessageDeflate: false,
      // Masks keep scripts in browsers from writing what they like onto a wire; here they only cost half the processor.
      generateMask: (mask) => void mask.fill(0),
      handshakeTimeout: 10_000,
      ...(socketPath === undefined ? {} : { createConnection: () => connect(socketPath) }),
    })
    let openedAt: number | undefined
    let refusedStatus: number | undefined
    let detail = ''
    const stop = (): void => socket.terminate()
    signal.addEventListener('abort', stop)
    socket.once('unexpected-response', (request, response) => {
      detail = `status ${response.statusCode}`
      if (response.statusCode === 401 || response.statusCode === 403) refusedStatus = response.statusCode
      response.resume()
      request.destroy()
      socket.terminate()
    })
    socket.once('open', () => {
      openedAt = performance.now()
      watchLiveness(socket, options.times)
      const duplex = createWebSocketStream(socket)
      duplex.on('error', () => undefined)
      const session = serveLink(
        duplex,
        { ...options, dialBack: (ticket) => dialBack(options.url, ticket) },
        (error) =>
          logger.error({ err: error, channel }, 'a call of the control plane failed without an answer'),
      )
      session.once('close', () => socket.terminate())
      socket.once('close', () => session.destroy())
      options.onState?.('connected')
    })
    socket.on('error', (error) => {
      detail ||= error.message
    })
    socket.once('close', (code) => {
      signal.removeEventListener('abort', stop)
      const livedMs = openedAt === undefined ? 0 : performance.now() - openedAt
      if (openedAt !== undefined) options.onState?.('lost')
      detail ||= `close code ${code}`
      if (refusedStatus !== undefined) resolve({ end: 'refused', detail, livedMs })
      else resolve({ end: openedAt === undefined ? 'failed' : 'lost', detail, livedMs })
    })
  })

/**
 * Keeps one channel open until the signal ends it or the control plane refuses the credential. The first attempt
 * and the one after a good link come at once; then 0.2 s, doubled up to 5 s, with jitter. Never rejects.
 */
export async function dialLink(options: DialOptions): Promise<DialEnd> {
  const { signal, logger, channel } = options
  let delayMs = 0
  while (!signal.aborted) {
    if (delayMs > 0) {
      await delay(delayMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined)
      if (signal.aborted) break
    }
    const { end, detail, livedMs } = await attempt(options)
    if (signal.aborted) break
    if (end === 'refused') {
      logger.warn({ channel, detail }, 'the control plane refused the credential')
      return 'refused'
    }
    delayMs = livedMs >= goodLinkMs ? 0 : Math.min(delayMsMax, Math.max(firstDelayMs, delayMs * 2))
    logger.warn({ channel, detail, delayMs }, 'no link to the control plane, dialling again')
  }
  return 'stopped'
}
