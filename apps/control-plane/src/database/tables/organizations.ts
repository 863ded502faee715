/** Row types of invitations. `005_organizations.sql` explains the columns. */
import type { Role } from '@dock/contract'
import type { NullableTimestamp } from './accounts.ts'

export type OrganizationTables = {
  invitations: {
    id: string
    organization_id: string
    email: string
    role: Role
    token_hash: Buffer
    /** Null if unknown, or erased (migration 096). */
    invited_by: string | null
    /** When somebody made an account with the link. */
    signed_up_at: NullableTimestamp
    expires_at: Date
    created_at: Date
  }
}
