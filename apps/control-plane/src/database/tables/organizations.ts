/** Row types of invitations. `005_organizations.sql` explains the columns. */
import type { Role } from '@dock/contract'

export type OrganizationTables = {
  invitations: {
    id: string
    organization_id: string
    email: string
    role: Role
    token_hash: Buffer
    expires_at: Date
    created_at: Date
  }
}
