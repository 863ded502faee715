/** The agent's side of the link: dials the control plane, serves calls over the socket, and reconnects with backoff. */
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { dialledAddress, type Logger } from '@dock/foundation'
import { WebSocket } from 'ws'
import { dialBack } from './dial-back.ts'
import { type LivenessTimes, watchLiveness } from './link-liveness.ts'
import { createLinkTransport } from './link-transport.ts'
import type { ConnectHandler } from './serve-connection.ts'
import { BrokenBody, type LinkHandler, serveLink } from './serve-link.ts'

export type LinkChannel = 'control' | 'bulk'

export type DialOptions = {
  /** The control plane's address: `http://…` or `https://…` without a path, or `unix:/path/of/socket`. */
  url: string
  credential: string
  hostId: string
  /** Identifies this run of the agent; the same on both channels. */
  session: string
  channel: LinkChannel
  handler: LinkHandler
  /** Handles connections to Docks. Without it, connections are not supported. */
  connect?: ConnectHandler
  /** Closes the link and stops dialling. */
  signal: AbortSignal
  logger: Logger
  /** Called at each change; every `connected` is followed by a `lost`. */
  onState?: (state: 'connected' | 'lost') => void
  times?: LivenessTimes
}

/** Why dialling ended: the credential was refused (401, 403), or the caller's signal fired. */
export type DialEnd = 'refused' | 'stopped'

type Attempt = { end: 'refused' | 'failed' | 'lost'; detail: string; livedMs: number }

const firstDelayMs = 200
const delayMsMax = 5_000
/** After a link that lived this long, the next attempt is immediate. */
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
      // Masking protects proxies from scripts in browsers (RFC 6455, section 10.3). Here it only costs half the CPU
      // time.
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
      const duplex = createLinkTransport(socket)
      const session = serveLink(
        duplex,
        { ...options, dialBack: (ticket) => dialBack(options.url, ticket) },
        (error) => {
          // Usual: a process was removed, or its reader was too slow.
          if (error instanceof BrokenBody) logger.debug({ err: error, channel }, 'a response broke off')
          else logger.error({ err: error, channel }, 'handler of a control plane call threw; stream reset')
        },
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
 * Keeps one channel open until the signal fires or the control plane refuses the credential. The first attempt, and the
 * first after a link of at least one second, is immediate. Later attempts back off from 0.2 s, doubling up to 5 s, with
 * jitter. Never rejects.
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
    logger.warn({ channel, detail, delayMs }, 'no link to the control plane; dialling again')
  }
  return 'stopped'
}
