import type { Clock } from '@dock/foundation'
import type { Db } from '../../../database/database.ts'
import type { SignedIn } from '../signed-in.ts'
import { readSessionCookie } from './session-cookie.ts'

/** Answers who the value of a session cookie belongs to, or undefined when it is forged, ended or expired. */
export type AuthenticateSession = (cookieValue: string) => Promise<SignedIn | undefined>

/** One join for each request; the sign-in library is asked only when somebody signs in. */
export const createSessionAuthentication =
  (options: { db: Db; clock: Clock; secret: string }): AuthenticateSession =>
  async (cookieValue) => {
    const token = readSessionCookie(cookieValue, options.secret)
    if (token === undefined) return undefined
    const row = await options.db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .where('sessions.token', '=', token)
      .where('sessions.expires_at', '>', options.clock.now())
      .select([
        'sessions.id as session_id',
        'users.id as user_id',
        'users.email',
        'users.email_verified',
        'users.instance_admin',
        'users.closed_at',
        'users.erased_at',
      ])
      .executeTakeFirst()
    if (!row) return undefined
    return {
      kind: 'session',
      credentialId: row.session_id,
      dockId: null,
      userId: row.user_id,
      email: row.email,
      emailVerified: row.email_verified,
      instanceAdmin: row.instance_admin,
      closedAt: row.closed_at,
      erasedAt: row.erased_at,
    }
  }
