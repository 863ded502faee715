/** Tables of people, organizations and their credentials (migration 001). */
import type { Role } from '@dock/contract'
import type { ColumnType, Generated } from 'kysely'

/** A timestamp with a default in the database. */
export type Timestamp = ColumnType<Date, Date | undefined, Date>
export type NullableTimestamp = ColumnType<Date | null, Date | null | undefined, Date | null>

export type UsersTable = {
  id: Generated<string>
  name: string
  email: string
  email_verified: Generated<boolean>
  image: string | null
  bio: Generated<string>
  /** True for the account that the first start creates. It is always an instance admin. */
  instance_admin: Generated<boolean>
  closed_at: NullableTimestamp
  erased_at: NullableTimestamp
  created_at: Timestamp
  updated_at: Timestamp
}

export type SessionsTable = {
  id: Generated<string>
  user_id: string
  token: string
  expires_at: ColumnType<Date, Date, Date>
  ip_address: string | null
  user_agent: string | null
  created_at: Timestamp
  updated_at: Timestamp
}

export type LoginAccountsTable = {
  id: Generated<string>
  user_id: string
  account_id: string
  provider_id: string
  access_token: string | null
  refresh_token: string | null
  id_token: string | null
  access_token_expires_at: NullableTimestamp
  refresh_token_expires_at: NullableTimestamp
  scope: string | null
  password: string | null
  /** Sealed tokens for access to repositories (migration 020). */
  grant_sealed: string | null
  created_at: Timestamp
  updated_at: Timestamp
}

export type VerificationsTable = {
  id: Generated<string>
  identifier: string
  value: string
  expires_at: ColumnType<Date, Date, Date>
  created_at: Timestamp
  updated_at: Timestamp
}

export type OrganizationsTable = {
  id: Generated<string>
  name: string
  slug: string
  seats: Generated<number>
  /** True if zero data retention is on: a stopped Dock leaves no data. */
  retention_enabled: Generated<boolean>
  /** When zero data retention was turned on (migration 033); null if it is off. */
  retention_since: NullableTimestamp
  /** The person who created the organization and whose limit it counts against (migration 048). Null if unknown. */
  made_by: string | null
  deleted_at: NullableTimestamp
  created_at: Timestamp
  updated_at: Timestamp
}

export type MembershipsTable = {
  organization_id: string
  user_id: string
  role: Role
  created_at: Timestamp
  updated_at: Timestamp
}

export type WorkspacesTable = {
  id: Generated<string>
  organization_id: string
  name: string
  slug: string
  created_at: Timestamp
  updated_at: Timestamp
}

export type EnvironmentsTable = {
  id: Generated<string>
  organization_id: string
  name: string
  is_default: Generated<boolean>
  current_version: Generated<number>
  secrets_access: Generated<'members' | 'admins'>
  created_at: Timestamp
  updated_at: Timestamp
}

export type EnvironmentVersionsTable = {
  id: Generated<string>
  environment_id: string
  organization_id: string
  version: number
  safe_for_third_parties: Generated<boolean>
  pass_github: Generated<boolean>
  pass_secrets: Generated<boolean>
  pass_dock_credentials: Generated<boolean>
  pass_agents_credentials: Generated<boolean>
  bundle_cleared_at: Timestamp | null
  created_at: Timestamp
}

export type ApiKeysTable = {
  id: Generated<string>
  user_id: string
  name: string
  key_prefix: string
  /** SHA-256 of the raw key. */
  key_hash: Buffer
  /** Set on a key issued to one Dock. */
  dock_id: string | null
  expires_at: NullableTimestamp
  revoked_at: NullableTimestamp
  last_used_at: NullableTimestamp
  created_at: Timestamp
}

/** Addresses that an instance admin confirmed without a mail (migration 096). */
export type VouchedAddressesTable = {
  user_id: string
  email: string
  /** Null if the admin is erased. */
  vouched_by: string | null
  vouched_at: ColumnType<Date, Date, Date>
}

export type AccountTables = {
  users: UsersTable
  sessions: SessionsTable
  login_accounts: LoginAccountsTable
  verifications: VerificationsTable
  vouched_addresses: VouchedAddressesTable
  organizations: OrganizationsTable
  memberships: MembershipsTable
  workspaces: WorkspacesTable
  environments: EnvironmentsTable
  environment_versions: EnvironmentVersionsTable
  api_keys: ApiKeysTable
}
