/** GET /v1/docks/:id/terminal, before the WebSocket upgrade: exchanges a ticket for an open terminal. */
import { isReadyDockState, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { findVisibleDock, requireSecretsAccess } from '../../docks/index.ts'
import {
  HostRefused,
  HostUnreachable,
  type TerminalConnection,
  type TerminalSize,
} from '../../hosts/index.ts'
import { tooManyInDock } from '../open-terminals.ts'
import type { TerminalContext } from '../terminal-context.ts'
import { redeemTicket, type Ticket } from '../ticket-store.ts'

export type ConnectedTerminal = TerminalConnection & {
  /** The redeemed ticket, which names the user and the credential. */
  holder: Ticket
  resize(size: TerminalSize): Promise<void>
  /** The caller calls it once when the terminal has closed. */
  release(): void
}

/** The size of a terminal until its client sends another one. */
const initialSize: TerminalSize = { cols: 80, rows: 24 }

/**
 * Redeems the ticket and opens the terminal. Throws `unauthorized` if the ticket is not valid for this Dock,
 * `dock_not_running`, `rate_limited` and `service_unavailable`.
 */
export async function connectTerminal(
  context: TerminalContext,
  id: string,
  rawTicket: string,
): Promise<ConnectedTerminal> {
  const holder = await redeemTicket(context.db, rawTicket, id, context.clock.now())
  if (!holder) throw badTicket()
  const dock = await findVisibleDock(context.db, holder.userId, id)
  if (!dock) throw new ServiceError('dock_not_found')
  requireSecretsAccess(dock)
  const { id: dockId, hostId, generation } = dock
  if (!isReadyDockState(dock.state) || hostId === null) throw new ServiceError('dock_not_running')
  const close = context.open.add(dockId, holder.userId)
  try {
    const terminalId = newUuid()
    const wanted = { terminalId, generation, ...initialSize }
    const connection = await context.hosts.openTerminal(hostId, dockId, wanted)
    const ended = context.activity.begin(dock)
    return {
      ...connection,
      holder,
      resize: (size) => context.hosts.resizeTerminal(hostId, dockId, terminalId, size),
      release: () => {
        close()
        ended()
      },
    }
  } catch (error) {
    close()
    throw mapHostError(error)
  }
}

const badTicket = (): ServiceError =>
  new ServiceError('unauthorized', {
    message: 'The ticket is unknown, already used or older than 30 seconds. Request a new one.',
  })

const mapHostError = (error: unknown): unknown => {
  if (error instanceof HostUnreachable)
    return new ServiceError('service_unavailable', {
      message: "The Dock's host cannot be reached. Retry in a moment.",
      cause: error,
    })
  if (!(error instanceof HostRefused)) return error
  switch (error.code) {
    case 'busy':
      return tooManyInDock()
    case 'not_running':
    case 'stale_generation':
    case 'not_found':
      return new ServiceError('dock_not_running', { detail: error.message })
    case 'unsupported':
      return new ServiceError('exec_unavailable', { detail: error.message })
    default:
      return new ServiceError('service_unavailable', {
        message: 'The Dock could not open a terminal. Retry in a moment.',
        cause: error,
      })
  }
}
