/** Authenticates the API key of a request. Reads the database on every request, so revocations take effect at once. */
import type { Clock, Logger } from '@dock/foundation'
import { sql } from 'kysely'
import { batchLookups } from '../../../database/batch-lookups.ts'
import type { Db } from '../../../database/database.ts'
import { personColumns, personOf, type SignedIn } from '../../accounts/index.ts'
import { hashApiKey, isRawApiKey } from './raw-api-key.ts'

const lastUsedIntervalMs = 60_000

/** Returns the user that a raw key acts as, or undefined if the key is unknown, revoked or expired. */
export type AuthenticateApiKey = (raw: string) => Promise<SignedIn | undefined>

/** Creates the authentication. It also records when each key was last used. */
export function createApiKeyAuthentication(options: {
  db: Db
  clock: Clock
  logger: Logger
}): AuthenticateApiKey {
  const { db, clock, logger } = options
  const pendingUpdates = new Set<string>()

  /** Updates `last_used_at` at most once a minute per key. Requests do not wait for it. */
  const recordUse = (id: string, lastUsedAt: Date | null, now: Date): void => {
    if (lastUsedAt && now.getTime() - lastUsedAt.getTime() < lastUsedIntervalMs) return
    if (pendingUpdates.has(id)) return
    pendingUpdates.add(id)
    db.updateTable('api_keys')
      .set({ last_used_at: now })
      .where('id', '=', id)
      .execute()
      .catch((error: unknown) => logger.warn({ err: error }, 'could not record the use of an API key'))
      .finally(() => pendingUpdates.delete(id))
  }

  const find = batchLookups((hashes) => findKeys(db, hashes))
  return async (raw) => {
    if (!isRawApiKey(raw)) return undefined
    const row = await find(hashApiKey(raw).toString('hex'))
    const now = clock.now()
    if (!row || row.revoked_at || (row.expires_at && row.expires_at <= now)) return undefined
    recordUse(row.key_id, row.last_used_at, now)
    return {
      kind: row.dock_id === null ? 'api_key' : 'dock_key',
      credentialId: row.key_id,
      dockId: row.dock_id,
      ...personOf(row),
    }
  }
}

/** Returns the keys with these hashes and their users, keyed by hash in hex. */
const findKeys = async (db: Db, hashes: string[]) => {
  const known = hashes.map((hash) => Buffer.from(hash, 'hex'))
  const rows = await db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    // `any` keeps the query text the same for every number of keys, so its prepared plan is reused.
    .where(sql<boolean>`api_keys.key_hash = any(${known}::bytea[])`)
    .select([
      'api_keys.id as key_id',
      'api_keys.key_hash',
      'api_keys.dock_id',
      'api_keys.expires_at',
      'api_keys.revoked_at',
      'api_keys.last_used_at',
      ...personColumns,
    ])
    .execute()
  return new Map(rows.map((row) => [row.key_hash.toString('hex'), row]))
}
