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
