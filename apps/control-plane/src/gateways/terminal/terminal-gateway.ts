/** Handles the WebSocket upgrade of `GET /v1/docks/:id/terminal`. The ticket in the query is its only credential. */
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { ServiceError } from '@dock/contract'
import { type Clock, destroySoon, isUuid, type Logger, refuseSocket } from '@dock/foundation'
import { WebSocketServer } from 'ws'
import type { AccessSignals } from '../../modules/accounts/index.ts'
import { connectTerminal, type TerminalContext } from '../../modules/terminals/index.ts'
import { runTerminal } from './run-terminal.ts'
import type { Closing } from './terminal-frames.ts'

const path = /^\/v1\/docks\/([^/]+)\/terminal$/
/** Limit of a frame from a client. A large paste arrives in several frames. */
const frameBytesMax = 1024 * 1024

export type TerminalGateway = {
  /** True if an upgrade of this path is for a terminal. */
  takes(path: string): boolean
  /** Opens the terminal, or responds with an error like the routes do. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<undefined>
  /** Closes every open terminal. */
  close(): void
}

const refuse = (socket: Duplex, { status, code, message }: ServiceError, clock: Clock): void => {
  const body = JSON.stringify({ ok: false, code, message })
  refuseSocket(
    socket,
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Cache-Control: no-store\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    { clock },
  )
}

export function createTerminalGateway(options: {
  context: TerminalContext
  accessSignals: AccessSignals
  logger: Logger
}): TerminalGateway {
  const { context, accessSignals, logger } = options
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: frameBytesMax })
  const open = new Set<(why: Closing) => void>()

  const accept = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const dockId = path.exec(url.pathname)?.[1]?.toLowerCase() ?? ''
    if (!isUuid(dockId)) throw new ServiceError('dock_not_found')
    const ticket = url.searchParams.get('ticket')
    if (!ticket) throw new ServiceError('validation_error', { message: 'ticket: required in the query' })
    const terminal = await connectTerminal(context, dockId, ticket)
    const abandon = (): void => {
      terminal.close()
      terminal.release()
    }
    if (socket.destroyed) return abandon()
    let isOpen = false
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      isOpen = true
      const close = runTerminal({
        socket: webSocket,
        terminal,
        clock: context.clock,
        onEnd: () => {
          open.delete(close)
          unsubscribe()
        },
      })
      const unsubscribe = accessSignals.subscribe(terminal.holder, () => close('accessLost'))
      open.add(close)
      // The credential may have ended between the check of the ticket and the subscription.
      accessSignals.notice(terminal.holder.credentialId)
    })
    if (isOpen) return
    // The library has responded to an invalid WebSocket handshake itself.
    abandon()
    destroySoon(socket, { clock: context.clock })
  }

  return {
    takes: (pathname) => path.test(pathname),
    upgrade: async (request, socket, head) => {
      socket.on('error', () => socket.destroy())
      try {
        await accept(request, socket, head)
      } catch (error) {
        const known = error instanceof ServiceError
        if (!known) logger.error({ err: error }, 'could not open a terminal')
        refuse(socket, known ? error : new ServiceError('internal_error', { cause: error }), context.clock)
      }
    },
    close: () => {
      for (const close of [...open]) close('leaving')
      sockets.close()
    },
  }
}
