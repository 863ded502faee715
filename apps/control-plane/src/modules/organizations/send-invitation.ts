/** Writes the invitation mail to the outbox, in the transaction that stores the invitation. */
import { appPaths, limits, type Role } from '@dock/contract'
import type { Tx } from '../../database/database.ts'
import { saveMail } from '../../mail/index.ts'
import type { OrganizationRow } from './organization-store.ts'

/** Returns when an invitation sent now expires. */
export function invitationExpiry(now: Date): Date {
  return new Date(now.getTime() + limits.invitationDays * 24 * 3_600_000)
}

const article = (role: Role): string => (role === 'member' ? 'a member' : `an ${role}`)

/** Returns the address of the page that accepts an invitation. */
export function invitationLink(appUrl: string, token: string): string {
  return appUrl + appPaths.invitation(token)
}

/** Saves the mail. The raw token is not stored elsewhere. */
export function sendInvitation(
  tx: Tx,
  appUrl: string,
  invitation: { organization: OrganizationRow; email: string; role: Role; token: string },
): Promise<void> {
  const { id } = invitation.organization
  // The owner chooses the name. Keep it on one line, so that it cannot imitate other parts of the mail.
  const name = invitation.organization.name.replace(/\s+/g, ' ').trim()
  return saveMail(tx, {
    recipient: invitation.email,
    title: `Join ${name}`,
    body: `You were invited to join the organization “${name}” on Dock as ${article(invitation.role)}.

Sign in with this address (${invitation.email}) to accept or decline. The link works for ${limits.invitationDays} days. If you did not expect this invitation, ignore this mail.`,
    link: { label: 'Open the invitation', to: invitationLink(appUrl, invitation.token) },
    organization: { id, name },
  })
}
