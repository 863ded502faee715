/** The mail that carries an invitation's link, saved in the transaction that made the link. */
import { limits, type Role } from '@dock/contract'
import type { Tx } from '../../database/database.ts'
import { saveMail } from '../../mail/outbox.ts'
import type { OrganizationRow } from './organization-store.ts'

/** When an invitation that is sent now expires. */
export function invitationExpiry(now: Date): Date {
  return new Date(now.getTime() + limits.invitationDays * 24 * 3_600_000)
}

const article = (role: Role): string => (role === 'member' ? 'a member' : `an ${role}`)

/** Saves the mail. The token stands nowhere else. */
export function sendInvitation(
  tx: Tx,
  appUrl: string,
  invitation: { organization: OrganizationRow; email: string; role: Role; token: string },
): Promise<void> {
  // A name is whatever its owner typed: kept to one line, so that it cannot pass for more of the mail.
  const name = invitation.organization.name.replace(/\s+/g, ' ').trim()
  return saveMail(tx, {
    recipient: invitation.email,
    subject: `Join ${name} on Dock`,
    body: `You were invited to join the organization “${name}” on Dock as ${article(invitation.role)}.

Open this link to accept or decline; sign in with this address (${invitation.email}):

${appUrl}/invitations/${invitation.token}

The link works for ${limits.invitationDays} days. If you did not expect it, do nothing.
`,
  })
}
