/** Records sign-ins, sign-outs and changes of logins and passwords. Called by the hooks of better-auth. */
import type { Clock } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import { type Actor, type AuditRecord, recordAudit } from '../../audit/index.ts'
import { clientAddressHeader } from './client-address-header.ts'

type Session = { id: string; userId: string }
/** What the hooks need of better-auth's context of a request. */
type Endpoint = {
  path?: string
  params?: unknown
  headers?: Headers | undefined
  context: { session?: { session: { id: string } } | null }
} | null

export type SignInRecords = {
  sessionCreated(session: Session, endpoint: Endpoint): Promise<void>
  sessionDeleted(session: Session, endpoint: Endpoint): Promise<void>
  loginAdded(login: { userId: string; providerId: string }, endpoint: Endpoint): Promise<void>
  /** `isClaimed`: the owner of the address took the account over, and its keys were revoked. */
  passwordReset(userId: string, address: string | undefined, isClaimed: boolean): Promise<void>
}

const signUpPath = '/sign-up/email'
const revokingPaths: readonly string[] = ['/revoke-session', '/revoke-other-sessions']

/** Returns `password`, or the provider that sent the person back. */
const methodOf = (endpoint: Endpoint): string => {
  const { path = '', params } = endpoint ?? {}
  if (path === '/sign-in/email' || path === signUpPath) return 'password'
  const { id = path } = (params ?? {}) as { id?: string }
  return id
}

export function createSignInRecords({ db, clock }: { db: Db; clock: Clock }): SignInRecords {
  const actorOf = (
    endpoint: Endpoint,
    userId: string,
    session = endpoint?.context.session?.session,
  ): Actor => ({
    kind: 'session',
    userId,
    ...(session && { credentialId: session.id }),
    address: endpoint?.headers?.get(clientAddressHeader) ?? undefined,
  })
  const record = async (
    by: Actor,
    userId: string,
    action: AuditRecord['action'],
    details: NonNullable<AuditRecord['details']>,
    target = { type: 'person', id: userId },
  ): Promise<void> => {
    // The browser of a person who was erased ends its last session.
    const person = await db
      .selectFrom('users')
      .select('erased_at')
      .where('id', '=', userId)
      .executeTakeFirst()
    if (!person || person.erased_at) return
    await recordAudit(db, by, { action, now: clock.now(), organizationId: 'own', target, details })
  }
  return {
    sessionCreated: async (session, endpoint) => {
      const by = actorOf(endpoint, session.userId, session)
      // It ends all sessions and begins a new one.
      if (endpoint?.path === '/change-password')
        return record(by, session.userId, 'account.password_changed', { method: 'old password' })
      const isNew = endpoint?.path === signUpPath
      const details = { method: methodOf(endpoint), ...(isNew && { isNew }) }
      return record(by, session.userId, 'account.signed_in', details)
    },
    sessionDeleted: async (session, endpoint) => {
      const path = endpoint?.path ?? ''
      const { userId } = session
      if (path === '/sign-out')
        return record(actorOf(endpoint, userId, session), userId, 'account.signed_out', {})
      if (revokingPaths.includes(path))
        return record(actorOf(endpoint, userId), userId, 'account.signed_out', { endedSession: session.id })
    },
    loginAdded: async ({ userId, providerId }, endpoint) => {
      if (providerId === 'credential') return
      const target = { type: 'provider', id: providerId }
      await record(actorOf(endpoint, userId), userId, 'account.connection_added', {}, target)
    },
    // Who follows a mailed link has no credential.
    passwordReset: (userId, address, isClaimed) =>
      record({ kind: 'platform', address }, userId, 'account.password_changed', {
        method: 'mailed link',
        keysRevoked: isClaimed,
      }),
  }
}
