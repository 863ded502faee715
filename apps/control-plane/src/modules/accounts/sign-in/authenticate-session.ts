import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import { batchLookups } from '../../../database/batch-lookups.ts'
import type { Db } from '../../../database/database.ts'
import { personColumns, personOf, type SignedIn } from '../signed-in.ts'
import { readSessionCookie } from './session-cookie.ts'

/**
 * Returns the user that the value of a session cookie belongs to, or undefined if the cookie is forged or the session
 * was ended or has expired.
 */
export type AuthenticateSession = (cookieValue: string) => Promise<SignedIn | undefined>

/**
 * Looks up the session in the database on every request, so that an ended session stops working at once. Does not call
 * better-auth, which is only used to sign in.
 */
export function createSessionAuthentication(options: {
  db: Db
  clock: Clock
  secret: string
}): AuthenticateSession {
  const find = batchLookups((tokens) => findSessions(options.db, tokens))
  return async (cookieValue) => {
    const token = readSessionCookie(cookieValue, options.secret)
    const row = token === undefined ? undefined : await find(token)
    if (!row || row.expires_at <= options.clock.now()) return undefined
    return {
      kind: 'session',
      credentialId: row.session_id,
      dockId: null,
      ...personOf(row),
    }
  }
}

/** Returns the sessions with these tokens and their users, keyed by token. */
const findSessions = async (db: Db, tokens: string[]) => {
  const rows = await db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .where(sql<boolean>`sessions.token = any(${tokens}::text[])`)
    .select(['sessions.id as session_id', 'sessions.token', 'sessions.expires_at', ...personColumns])
    .execute()
  return new Map(rows.map((row) => [row.token, row]))
}
