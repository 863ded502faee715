/** Endpoints for hosts: registration, and the WebSocket upgrade that carries a link. Not part of the public API. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { ServiceError } from '@dock/contract'
import { type Logger, refuseSocket } from '@dock/foundation'
import {
  type AgentLink,
  acceptLink,
  dialBackPath,
  dialBackProtocol,
  eventBytesMax,
  type LinkChannel,
  type RegisteredHost,
  readEvent,
  registerHost,
  routes,
  splitLines,
} from '@dock/host-protocol'
import { WebSocketServer } from 'ws'
import type { Enrolment, HostEvents } from '../../modules/hosts/index.ts'
import type { FleetGateway } from './fleet-gateway.ts'

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => Promise<'host' | undefined>

export type FleetServer = {
  /** Handles POST /v1/fleet/register, given the parsed JSON body and the client's address. */
  register(body: unknown, address: string): Promise<RegisteredHost>
  /**
   * Returns the handler of an upgrade, or undefined if the path is not a host's. The handler sends refusals itself, and
   * resolves with `'host'` if it accepts the upgrade.
   */
  upgradeOf(path: string, protocol: string): Upgrade | undefined
  close(): void
}

/** Limit of a WebSocket message. The HTTP/2 frames of a link are far smaller. */
const messageBytesMax = 16 * 2 ** 20
/** The link is closed after more invalid events than this. */
const unreadableMax = 20
/** Types of events that are logged as unknown. A hostile host could make up more and more. */
const unknownTypesMax = 100

const unauthorized = 'HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'

export function createFleetServer(options: {
  logger: Logger
  enrolment: Enrolment
  events: HostEvents
  gateway: FleetGateway
  /** Called when a host's bulk link is up. */
  onBulkLink(): void
}): FleetServer {
  const { logger, enrolment, events, gateway } = options
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: messageBytesMax,
  })

  const unknownTypes = new Set<string>()
  const noteUnknown = (hostId: string, type: string): void => {
    if (unknownTypes.has(type) || unknownTypes.size >= unknownTypesMax) return
    unknownTypes.add(type)
    logger.warn({ hostId, type }, 'hosts send an event that this version does not know; it is ignored')
  }

  /** Reads the host's event stream until its control link closes. Handles one event at a time. */
  const follow = async (hostId: string, link: AgentLink): Promise<void> => {
    const answer = await link.stream(routes.events.method, routes.events.path)
    if (answer.status !== 200) throw new Error(`the host responded to /events with status ${answer.status}`)
    let unreadable = 0
    for await (const lines of splitLines(answer.stream, eventBytesMax)) {
      for (const line of lines) {
        if (line.trim() === '') continue
        const event = readEvent(line)
        if (event && 'unknownType' in event) {
          noteUnknown(hostId, event.unknownType)
          continue
        }
        if (!event) {
          unreadable += 1
          logger.warn(
            { hostId, line: line.slice(0, 200) },
            'ignored a host event that is not in the protocol',
          )
          if (unreadable > unreadableMax)
            throw new Error('the host sent too many events that are not in the protocol')
          continue
        }
        try {
          await events.handle(hostId, event)
          // A report over a link that is gone says nothing of the session that replaced it.
          if (event.type === 'inventory' && !link.isClosed) gateway.releaseOrders(hostId)
        } catch (error) {
          logger.error({ hostId, err: error }, 'could not handle a host event')
        }
      }
    }
  }

  /** Covers a credential that was replaced after it was checked and before the link was attached. */
  const closeIfReplaced = (link: AgentLink, credential: string): void => {
    enrolment.isGood(credential).then(
      (good) => good || link.close(4001, 'credential replaced'),
      () => link.close(1011, 'the credential could not be checked'),
    )
  }

  const takeLink: Upgrade = async (request, socket, head) => {
    socket.on('error', () => socket.destroy())
    const url = new URL(request.url ?? '/', 'http://localhost')
    const channel: LinkChannel = url.searchParams.get('channel') === 'bulk' ? 'bulk' : 'control'
    const credential = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1]
    // A connection over a Unix socket has no address. It comes from this machine.
    const address = request.socket.remoteAddress ?? '127.0.0.1'
    const hostId = credential ? await enrolment.admit(credential, address) : null
    if (!credential || hostId === null) {
      refuseSocket(socket, unauthorized)
      return undefined
    }
    sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const link = acceptLink(webSocket)
      gateway.attach(hostId, channel, link)
      closeIfReplaced(link, credential)
      logger.info({ hostId, channel }, 'host linked')
      link.onClose(() => logger.info({ hostId, channel }, 'host link closed'))
      if (channel === 'control')
        follow(hostId, link).catch((error: unknown) => {
          if (!link.isClosed)
            logger.warn({ hostId, err: error }, 'lost a host’s event stream; closing its link')
          link.close(4002, 'events ended')
        })
      else options.onBulkLink()
    })
    return 'host'
  }

  return {
    register: async (body, address) => {
      const request = registerHost.safeParse(body)
      if (!request.success) throw new ServiceError('validation_error', { detail: request.error })
      return enrolment.register(request.data, address)
    },
    upgradeOf: (path, protocol) => {
      if (path === '/v1/fleet/connect' && protocol === 'websocket') return takeLink
      if (path === dialBackPath && protocol === dialBackProtocol)
        return async (...upgrade) => (gateway.dialBacks.upgrade(...upgrade) ? 'host' : undefined)
      return undefined
    },
    close: () => {
      gateway.close()
      sockets.close()
    },
  }
}
