import type { Invitation, InvitationPreview } from '@dock/contract'
import type { AddressedInvitation, InvitationRow } from './invitation-store.ts'

/** An invitation as the organization sees it: never its token. */
export function invitationView(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    expiresAt: row.expires_at.toISOString(),
    createdAt: row.created_at.toISOString(),
  }
}

/** An invitation as the invited person sees it. */
export function invitationPreview(row: AddressedInvitation): InvitationPreview {
  return {
    id: row.id,
    organizationName: row.organizationName,
    role: row.role,
    expiresAt: row.expires_at.toISOString(),
  }
}
