/**
 * API keys that are issued to a Dock. A Dock key acts as a user, may access only that Dock, and is valid for one boot.
 */
import { newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { hashApiKey, newRawApiKey, prefixOfApiKey } from './raw-api-key.ts'

type NewDockKey = { dockId: string; organizationId: string; userId: string; now: Date }

/**
 * Issues a key to a Dock and returns its raw value, which is not stored. Returns null if the user was erased, has
 * closed their account or has left the organization. The Dock then runs without a key.
 */
export async function issueDockKey(db: Db, key: NewDockKey): Promise<string | null> {
  const raw = newRawApiKey()
  // The row locks wait for a transaction that is closing the account, so that it cannot miss the new key.
  const { rows } = await sql`
    with person as (select u.id from users u join memberships m on m.user_id = u.id
      where u.id = ${key.userId} and m.organization_id = ${key.organizationId} and u.closed_at is null for share of u, m)
    insert into api_keys (id, user_id, name, key_prefix, key_hash, dock_id, created_at)
    select ${newUuid()}::uuid, person.id, ${`dock ${key.dockId}`}::text, ${prefixOfApiKey(raw)}::text,
      ${hashApiKey(raw)}::bytea, ${key.dockId}::uuid, ${key.now}::timestamptz from person returning id`.execute(
    db,
  )
  return rows.length > 0 ? raw : null
}

/** Returns the ids of a Dock's keys that are not revoked. */
export async function listLiveDockKeyIds(db: Db, dockId: string): Promise<string[]> {
  const keys = await db
    .selectFrom('api_keys')
    .select('id')
    .where('dock_id', '=', dockId)
    .where('revoked_at', 'is', null)
    .execute()
  return keys.map(({ id }) => id)
}

/** SQL statement that deletes all keys of a Dock if `when` is true, for use in a `with` clause. */
export function deleteDockKeysSql(
  dockId: string,
  when: RawBuilder<boolean> = sql`true`,
): RawBuilder<unknown> {
  return sql`delete from api_keys where dock_id = ${dockId}::uuid and ${when}`
}

/** Deletes the given keys of a Dock. Idempotent. */
export async function revokeDockKeys(db: Db, dockId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db
    .deleteFrom('api_keys')
    .where('dock_id', '=', dockId)
    .where('id', 'in', [...ids])
    .execute()
}
