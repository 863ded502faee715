/** From the raw key of a request to the person it acts for, read from the database for every request. */
import type { Clock, Logger } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { gatherLookups } from '../../database/gather-lookups.ts'
import { personColumns, personOf, type SignedIn } from '../accounts/index.ts'
import { hashApiKey, isRawApiKey } from './raw-api-key.ts'

const lastUsedEveryMs = 60_000

/** Answers who a raw key acts for, or undefined when it is no key that works now. */
export type AuthenticateApiKey = (raw: string) => Promise<SignedIn | undefined>

export function createApiKeyAuthentication(options: {
  db: Db
  clock: Clock
  logger: Logger
}): AuthenticateApiKey {
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

  const find = gatherLookups((hashes) => findKeys(db, hashes))
  return async (raw) => {
    if (!isRawApiKey(raw)) return undefined
    const row = await find(hashApiKey(raw).toString('hex'))
    const now = clock.now()
    if (!row || row.revoked_at || (row.expires_at && row.expires_at <= now)) return undefined
    noteUse(row.key_id, row.last_used_at, now)
    return {
      kind: row.dock_id === null ? 'api_key' : 'dock_key',
      credentialId: row.key_id,
      dockId: row.dock_id,
      ...personOf(row),
    }
  }
}

/** The keys of these hashes with their people, by the hash in hex. */
const findKeys = async (db: Db, hashes: string[]) => {
  const known = hashes.map((hash) => Buffer.from(hash, 'hex'))
  const rows = await db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    // One text of the query whatever their number.
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
