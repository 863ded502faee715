import type { CallerKind } from './caller.ts'

/** The user behind a valid credential, before the access rules of a route are applied. */
export type SignedIn = {
  kind: CallerKind
  credentialId: string
  dockId: string | null
  userId: string
  email: string
  emailVerified: boolean
  /** Read from the user's row only. The configured list of admins may grant it as well. */
  instanceAdmin: boolean
  closedAt: Date | null
  erasedAt: Date | null
}

/** The columns of `users` that {@link personOf} needs. */
export const personColumns = [
  'users.id as user_id',
  'users.email',
  'users.email_verified',
  'users.instance_admin',
  'users.closed_at',
  'users.erased_at',
] as const

/** Converts the {@link personColumns} of a row to the fields of {@link SignedIn}. */
export function personOf(row: {
  user_id: string
  email: string
  email_verified: boolean
  instance_admin: boolean
  closed_at: Date | null
  erased_at: Date | null
}): Omit<SignedIn, 'kind' | 'credentialId' | 'dockId'> {
  return {
    userId: row.user_id,
    email: row.email,
    emailVerified: row.email_verified,
    instanceAdmin: row.instance_admin,
    closedAt: row.closed_at,
    erasedAt: row.erased_at,
  }
}
