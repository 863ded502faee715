/** The only SQL for API keys. */
import { newUuid } from '@dock/foundation'
import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import type { ApiKeysTable } from '../../database/tables/accounts.ts'
import { hashApiKey, newRawApiKey, prefixOfApiKey } from './raw-api-key.ts'

export type ApiKeyRow = Selectable<ApiKeysTable>

/** Saves a new key of a person and answers it with its raw value, which is known from then on to nobody else. */
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
    .returningAll()
    .executeTakeFirstOrThrow()
  return { row, raw }
}

/** Keys of a person that still work. Asked with the person's row locked. */
export async function countActiveApiKeys(db: Tx, userId: string, now: Date): Promise<number> {
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

/** All keys that a person made, newest first. Keys issued to Docks are not among them. */
export function listApiKeyRows(db: Db, userId: string): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('api_keys')
    .selectAll()
    .where('user_id', '=', userId)
    .where('dock_id', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

/** Revokes a person's key, now or earlier. Answers whether it is theirs. */
export async function revokeApiKeyRow(db: Db, userId: string, id: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('api_keys')
    .set((set) => ({ revoked_at: set.fn.coalesce('revoked_at', set.val(now)) }))
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .where('dock_id', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Revokes every key that acts as a person, those issued to Docks among them. */
export async function revokeAllKeyRows(db: Db, userId: string, now: Date): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .execute()
}
