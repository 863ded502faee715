import type { Db } from '../../database/database.ts'

/** Returns true if there is such a person, whose account is neither closed nor erased. */
export async function isOpenAccount(db: Db, userId: string): Promise<boolean> {
  const row = await db.selectFrom('users').select('closed_at').where('id', '=', userId).executeTakeFirst()
  return row !== undefined && row.closed_at === null
}
