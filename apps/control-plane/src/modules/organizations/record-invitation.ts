import type { AuditAction, Role } from '@dock/contract'
import type { Tx } from '../../database/database.ts'
import { type Actor, recordAudit } from '../audit/index.ts'

type InvitationAction = Extract<AuditAction, `invitation.${string}`>

/** Records what was done with an invitation. Its target is the address, which need not be of an account. */
export function recordInvitation(
  tx: Tx,
  by: Actor,
  action: InvitationAction,
  { organizationId, email, role, now }: { organizationId: string; email: string; role: Role; now: Date },
): Promise<void> {
  const target = { type: 'address', id: email.toLowerCase() }
  return recordAudit(tx, by, { action, now, organizationId, target, details: { role } })
}
