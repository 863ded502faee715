import type { Invitation, InvitationPreview } from '@dock/contract'
import type { AddressedInvitation, InvitationRow } from './invitation-store.ts'

/** Returns the API view of an invitation for its organization, without the token. */
export function invitationView(row: InvitationRow): Invitation {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    expiresAt: row.expires_at.toISOString(),
    createdAt: row.created_at.toISOString(),
  }
}

/** Returns the API view of an invitation for the invited user. */
export function invitationPreview(row: AddressedInvitation): InvitationPreview {
  return {
    id: row.id,
    organizationName: row.organizationName,
    role: row.role,
    expiresAt: row.expires_at.toISOString(),
  }
}
