/** Wires up terminals and hosted ports: their routes and their gateways. */
import type { Clock, Logger, Precedence } from '@dock/foundation'
import type { ClientAddress } from './client-address.ts'
import type { Db } from './database/database.ts'
import { createPortGateway, type PortGateway } from './gateways/ports/index.ts'
import { createTerminalGateway, type TerminalGateway } from './gateways/terminal/index.ts'
import type { Handlers } from './http/handler.ts'
import { portHandlers } from './http/routes/ports.ts'
import { terminalHandlers } from './http/routes/terminals.ts'
import type { AccessSignals } from './modules/accounts/index.ts'
import type { DockActivity } from './modules/docks/index.ts'
import type { HostConnections } from './modules/hosts/index.ts'
import { createPortRoutes, type PortsDomain } from './modules/ports/index.ts'
import { createOpenTerminals, type TerminalContext } from './modules/terminals/index.ts'
import type { RateLimits } from './rate-limits/rate-limits.ts'

export type ConnectionModules = {
  handlers: Handlers
  terminals: TerminalGateway
  /** Null if hosted ports are off. */
  ports: PortGateway | null
  /** Handles a notification of the PostgreSQL channel `port_routes`. */
  noticeRoute(label?: string): void
  /** Closes every terminal and every connection to a port. */
  close(): void
}

export function createConnectionModules(options: {
  db: Db
  clock: Clock
  logger: Logger
  rateLimits: RateLimits
  hosts: HostConnections
  precedence: Precedence
  activity: DockActivity
  accessSignals: AccessSignals
  portsDomain: PortsDomain | null
  clientAddress: ClientAddress
}): ConnectionModules {
  const {
    db,
    clock,
    logger,
    rateLimits,
    hosts,
    activity,
    accessSignals,
    portsDomain,
    clientAddress,
    precedence,
  } = options
  const context: TerminalContext = { db, clock, rateLimits, hosts, activity, open: createOpenTerminals() }
  const terminals = createTerminalGateway({ context, accessSignals, logger })
  const routes = createPortRoutes({ db, clock })
  const ports =
    portsDomain &&
    createPortGateway({ domain: portsDomain, routes, hosts, precedence, clientAddress, logger })
  return {
    handlers: { ...terminalHandlers(context), ...portHandlers({ db, clock, domain: portsDomain }) },
    terminals,
    ports,
    noticeRoute: (label) => ports?.notice(label),
    close: () => {
      terminals.close()
      ports?.close()
    },
  }
}
