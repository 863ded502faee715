/** Keys that are issued to one Dock: they act as its person, reach that Dock alone, and last for one boot. */
import { newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { hashApiKey, newRawApiKey, prefixOfApiKey } from './raw-api-key.ts'

type NewDockKey = { dockId: string; organizationId: string; userId: string; now: Date }

/**
 * Issues a key to a Dock and returns its raw value, which is kept nowhere. Returns null when the person is erased, has
 * closed their account or has left the organization: the Dock then runs without a key.
 */
export async function issueDockKey(db: Db, key: NewDockKey): Promise<string | null> {
  const raw = newRawApiKey()
  // The lock waits for a closing account, so that no key is made behind its back.
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

/** Ids of the keys of a Dock that have not ended. */
export async function liveDockKeys(db: Db, dockId: string): Promise<string[]> {
  const keys = await db
    .selectFrom('api_keys')
    .select('id')
    .where('dock_id', '=', dockId)
    .where('revoked_at', 'is', null)
    .execute()
  return keys.map(({ id }) => id)
}

/** The statement that ends every key of a Dock, for a `with` of another. An ended key leaves no row. */
export function endDockKeys(dockId: string, when: RawBuilder<boolean> = sql`true`): RawBuilder<unknown> {
  return sql`delete from api_keys where dock_id = ${dockId}::uuid and ${when}`
}

/** Ends the named keys of a Dock. Repeating it is harmless. */
export async function revokeDockKeys(db: Db, dockId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await db
    .deleteFrom('api_keys')
    .where('dock_id', '=', dockId)
    .where('id', 'in', [...ids])
    .execute()
}
