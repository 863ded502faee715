/** Keys that are issued to one Dock: they act as its person and reach that Dock alone. */
import type { Db } from '../../database/database.ts'
import { insertApiKey } from './api-key-store.ts'

/** Issues a key to a Dock and answers its raw value, which is kept nowhere. It ends with {@link revokeDockKeys}. */
export const issueDockKey = async (
  db: Db,
  key: { dockId: string; userId: string; now: Date },
): Promise<string> => (await insertApiKey(db, { ...key, name: `dock ${key.dockId}`, expiresAt: null })).raw

/** Ids of the keys of a Dock that have not ended. */
export const liveDockKeys = async (db: Db, dockId: string): Promise<string[]> => {
  const keys = await db
    .selectFrom('api_keys')
    .select('id')
    .where('dock_id', '=', dockId)
    .where('revoked_at', 'is', null)
    .execute()
  return keys.map(({ id }) => id)
}

/** Ends every key that was issued to a Dock, or those of them that are named. Repeating it is harmless. */
export const revokeDockKeys = async (
  db: Db,
  dockId: string,
  now: Date,
  only?: readonly string[],
): Promise<void> => {
  if (only?.length === 0) return
  await db
    .updateTable('api_keys')
    .set({ revoked_at: now })
    .where('dock_id', '=', dockId)
    .where('revoked_at', 'is', null)
    .$if(only !== undefined, (query) => query.where('id', 'in', [...(only ?? [])]))
    .execute()
}
