import type { CallerKind } from './caller.ts'

/** What a credential says about its person, before the rules of a route are applied. */
export type SignedIn = {
  kind: CallerKind
  credentialId: string
  dockId: string | null
  userId: string
  email: string
  emailVerified: boolean
  /** From the person's row alone; the configured list of admins adds to it. */
  instanceAdmin: boolean
  closedAt: Date | null
  erasedAt: Date | null
}

/** What {@link personOf} reads of a credential's person. */
export const personColumns = [
  'users.id as user_id',
  'users.email',
  'users.email_verified',
  'users.instance_admin',
  'users.closed_at',
  'users.erased_at',
] as const

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
