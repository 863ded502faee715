/** Row types of invitations; the columns are explained in `005_organizations.sql`. */
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
