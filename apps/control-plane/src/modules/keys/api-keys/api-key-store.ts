/** All SQL for the API keys of users. Dock keys are in dock-keys.ts. */
import { limits, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { columnsOf } from '../../../database/columns.ts'
import type { Db, Row, Tx } from '../../../database/database.ts'
import { hashApiKey, newRawApiKey, prefixOfApiKey } from './raw-api-key.ts'

export type ApiKeyRow = Row<'api_keys'>
const columns = columnsOf('api_keys')

/** Creates a key and returns its row and its raw value, which is not stored. */
export async function insertApiKey(
  db: Db,
  key: { userId: string; name: string; expiresAt: Date | null; now: Date },
): Promise<{ row: ApiKeyRow; raw: string }> {
  const raw = newRawApiKey()
  const row = await db
    .insertInto('api_keys')
    .values({
      id: newUuid(),
      user_id: key.userId,
      name: key.name,
      key_prefix: prefixOfApiKey(raw),
      key_hash: hashApiKey(raw),
      expires_at: key.expiresAt,
      created_at: key.now,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  return { row, raw }
}

/**
 * Returns the number of a user's keys that are neither revoked nor expired. The caller holds a lock on the user's row.
 */
const countActiveApiKeys = async (db: Tx, userId: string, now: Date): Promise<number> => {
  const { count } = await db
    .selectFrom('api_keys')
    .select((select) => select.fn.countAll<string>().as('count'))
    .where('user_id', '=', userId)
    .where('dock_id', 'is', null)
    .where('revoked_at', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Throws `api_key_limit_reached` if the user has as many active keys as allowed. The caller holds the user's lock. */
export async function requireRoomForApiKey(tx: Tx, userId: string, now: Date): Promise<void> {
  const active = await countActiveApiKeys(tx, userId, now)
  if (active >= limits.apiKeysPerUserMax) throw new ServiceError('api_key_limit_reached')
}

/** {@link insertApiKey}, but throws `api_key_limit_reached`. The caller holds the lock on the user's row. */
export async function insertApiKeyWithinLimit(
  tx: Tx,
  key: Parameters<typeof insertApiKey>[1],
): Promise<{ row: ApiKeyRow; raw: string }> {
  await requireRoomForApiKey(tx, key.userId, key.now)
  return insertApiKey(tx, key)
}

/** Returns all keys that a user created, newest first. Excludes keys issued to Docks. */
export function listApiKeyRows(db: Db, userId: string): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('api_keys')
    .select(columns)
    .where('user_id', '=', userId)
    .where('dock_id', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/**
 * Revokes a user's key. Returns its name, and whether it was not revoked before; undefined if the user has no key with this
 * id.
 */
export async function revokeApiKeyRow(
  tx: Tx,
  userId: string,
  id: string,
  now: Date,
): Promise<{ name: string; isNew: boolean } | undefined> {
  const key = await tx
    .selectFrom('api_keys')
    .select(['name', 'revoked_at'])
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('dock_id', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (!key) return undefined
  const isNew = key.revoked_at === null
  if (isNew) await tx.updateTable('api_keys').set({ revoked_at: now }).where('id', '=', id).execute()
  return { name: key.name, isNew }
}

/** Revokes all keys that act as a user, including keys issued to Docks. */
export async function revokeAllKeyRows(db: Db, userId: string, now: Date): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute()
}
