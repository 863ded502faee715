/** POST /v1/docks/:id/terminal, and POST /v1/docks/:id/processes/:pid/terminal. */
import { isReadyDockState, limits, ServiceError, type TerminalTicket } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Visitor } from '../accounts/index.ts'
import { recordDockEntered } from '../audit/index.ts'
import { requireDock, requireNotDriven, requireSecretsAccess } from '../docks/index.ts'
import { explainHostFailure } from '../hosts/index.ts'
import { requireAttachable } from './attach-process.ts'
import type { TerminalContext } from './terminal-context.ts'
import { attachWords } from './terminal-words.ts'
import { type Attachment, insertTicket } from './ticket-store.ts'

/**
 * Issues a single-use ticket for a terminal of a ready Dock: a new shell, or this process from the offset on. Throws `dock_not_running` and `rate_limited`; `not_found` for a
 * process that no terminal can be attached to. The ticket counts as entering the Dock in the audit log: only this request
 * knows the credential and the address.
 */
export async function openTerminal(
  context: TerminalContext,
  caller: Visitor,
  id: string,
  attachment: Attachment | null = null,
): Promise<TerminalTicket> {
  const { db, clock } = context
  const dock = await requireDock(context, caller, id)
  requireSecretsAccess(dock)
  requireNotDriven(dock)
  const { organizationId, state, hostId } = dock
  if (!isReadyDockState(state) || hostId === null) throw new ServiceError('dock_not_running')
  context.open.check(id, caller.userId)
  await context.rateLimits.take('terminalTickets', caller.userId)
  if (attachment) {
    const { processId } = attachment
    await requireAttachable(context.hosts, { hostId, dockId: id, processId }).catch((error: unknown) => {
      throw explainHostFailure(error, attachWords)
    })
  }
  const now = clock.now()
  const expiresAt = new Date(now.getTime() + limits.terminal.ticketSeconds * 1000)
  const { userId, credentialId } = caller
  const holder = { dockId: id, organizationId, userId, credentialId, attachment }
  const ticket = await withTransaction(db, async (tx) => {
    await recordDockEntered(tx, caller, dock, { by: 'terminal', now })
    return insertTicket(tx, holder, now, expiresAt)
  })
  return { ticket, expiresAt: expiresAt.toISOString() }
}
