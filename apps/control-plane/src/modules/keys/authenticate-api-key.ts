/** From the raw key of a request to the person it acts for, with one query. */
import { timingSafeEqual } from 'node:crypto'
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { SignedIn } from '../accounts/index.ts'
import { hashApiKey, isRawApiKey, prefixOfApiKey } from './raw-api-key.ts'

const lastUsedEveryMs = 60_000

/** Answers who a raw key acts for, or undefined when it is no key that works now. */
export type AuthenticateApiKey = (raw: string) => Promise<SignedIn | undefined>

export const createApiKeyAuthentication = (options: {
  db: Db
  clock: Clock
  logger: Logger
}): AuthenticateApiKey => {
  const { db, clock, logger } = options
  const noting = new Set<string>()

  /** Written at most once a minute a key, and never waited for: reads stay reads. */
  const noteUse = (id: string, lastUsedAt: Date | null, now: Date): void => {
    if (lastUsedAt && now.getTime() - lastUsedAt.getTime() < lastUsedEveryMs) return
    if (noting.has(id)) return
    noting.add(id)
    db.updateTable('api_keys')
      .set({ last_used_at: now })
      .where('id', '=', id)
      .execute()
      .catch((error: unknown) => logger.warn({ err: error }, 'use of an API key not noted'))
      .finally(() => noting.delete(id))
  }

  return async (raw) => {
    if (!isRawApiKey(raw)) return undefined
    const hash = hashApiKey(raw)
    const rows = await db
      .selectFrom('api_keys')
      .innerJoin('users', 'users.id', 'api_keys.user_id')
      .where('api_keys.key_prefix', '=', prefixOfApiKey(raw))
      .select([
        'api_keys.id as key_id',
        'api_keys.key_hash',
        'api_keys.dock_id',
        'api_keys.expires_at',
        'api_keys.revoked_at',
        'api_keys.last_used_at',
        'users.id as user_id',
        'users.email',
        'users.email_verified',
        'users.instance_admin',
        'users.closed_at',
        'users.erased_at',
      ])
      .execute()
    const row = rows.find((candidate) => timingSafeEqual(candidate.key_hash, hash))
    const now = clock.now()
    if (!row || row.revoked_at || (row.expires_at && row.expires_at <= now)) return undefined
    noteUse(row.key_id, row.last_used_at, now)
    return {
      kind: row.dock_id === null ? 'api_key' : 'dock_key',
      credentialId: row.key_id,
      dockId: row.dock_id,
      userId: row.user_id,
      email: row.email,
      emailVerified: row.email_verified,
      instanceAdmin: row.instance_admin,
      closedAt: row.closed_at,
      erasedAt: row.erased_at,
    }
  }
}
