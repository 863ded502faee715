/** GET /v1/docks/:id/terminal, before the WebSocket upgrade: exchanges a ticket for an open terminal. */
import { isReadyDockState, ServiceError } from '@dock/contract'
import { findVisibleDock, requireNotDriven, requireSecretsAccess } from '../docks/index.ts'
import { explainHostFailure } from '../hosts/index.ts'
import { attachProcess, requireAttachable } from './attach-process.ts'
import { openShell } from './open-shell.ts'
import type { TerminalConnection } from './terminal-connection.ts'
import type { TerminalContext } from './terminal-context.ts'
import { attachWords, shellWords } from './terminal-words.ts'
import { type RedeemedTicket, redeemTicket, type Ticket } from './ticket-store.ts'

export type ConnectedTerminal = Opened & {
  /** The redeemed ticket, which names the user and the credential. */
  holder: Ticket
  /** The caller calls it once when the terminal has closed. */
  release(): void
}

type Opened = TerminalConnection & {
  /** With a process: the offset in its output at which this terminal begins. */
  start?: number
}

/**
 * Redeems the ticket and opens the terminal. Throws `unauthorized` if the ticket is not valid for this Dock,
 * `dock_not_running`, `rate_limited` and `service_unavailable`; with a process also `not_found` and `conflict`.
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
  requireNotDriven(dock)
  const { id: dockId, hostId, generation } = dock
  if (!isReadyDockState(dock.state) || hostId === null) throw new ServiceError('dock_not_running')
  const close = context.open.add(dockId, holder.userId)
  try {
    const opened = await open(context, { hostId, dockId, generation }, holder)
    const ended = context.activity.begin(dock)
    return {
      ...opened,
      holder,
      release: () => {
        close()
        ended()
      },
    }
  } catch (error) {
    close()
    throw explainHostFailure(error, holder.attachment ? attachWords : shellWords)
  }
}

const open = async (
  { hosts, clock }: TerminalContext,
  { hostId, dockId, generation }: { hostId: string; dockId: string; generation: number },
  { attachment }: RedeemedTicket,
): Promise<Opened> => {
  if (!attachment) return openShell(hosts, { hostId, dockId, generation })
  const place = { hostId, dockId, processId: attachment.processId }
  await requireAttachable(hosts, place)
  return attachProcess(hosts, clock, place, attachment.offset)
}

const badTicket = (): ServiceError =>
  new ServiceError('unauthorized', {
    message: 'The ticket is unknown, already used or older than 30 seconds. Request a new one.',
  })
