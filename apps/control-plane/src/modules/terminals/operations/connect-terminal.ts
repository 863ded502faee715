/** GET /v1/docks/:id/terminal, the part before the WebSocket: a ticket becomes a terminal, or nothing has happened. */
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
  /** Whose it is and through what. */
  holder: Ticket
  resize(size: TerminalSize): Promise<void>
  /** To be called once it is over. */
  release(): void
}

/** What a terminal has until its client says another. */
const firstSize: TerminalSize = { cols: 80, rows: 24 }

/** Redeems the ticket and opens the terminal. Throws `unauthorized` for a ticket that is not good for this Dock now. */
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
    const wanted = { terminalId, generation, ...firstSize }
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
    throw explained(error)
  }
}

const badTicket = (): ServiceError =>
  new ServiceError('unauthorized', {
    message: 'The ticket is unknown, used or older than 30 seconds. Ask for a new one.',
  })

const explained = (error: unknown): unknown => {
  if (error instanceof HostUnreachable)
    return new ServiceError('service_unavailable', {
      message: "The Dock's host cannot be reached now. Retry in a moment.",
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
