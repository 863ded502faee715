/**
 * Hands an account to the owner of its address, who has set a password through a mailed link, if no mail has proved the
 * address before. That an instance admin vouched for it is no such proof: the admin may have been told the wrong thing.
 */
import { sql } from 'kysely'
import { type Db, type Tx, withTransaction } from '../../../database/database.ts'
import { endSessions } from '../end-sessions.ts'

export type DropKeys = (tx: Tx, userId: string) => Promise<void>

/**
 * Marks the address as verified and revokes the account's keys, sessions and linked logins, because somebody else may
 * have created the account. Does nothing and returns false if a mail has verified the address already.
 */
export function claimAddress(db: Db, dropKeys: DropKeys, userId: string): Promise<boolean> {
  return withTransaction(db, async (tx) => {
    const claimed = await tx
      .updateTable('users')
      .set({ email_verified: true })
      .where('id', '=', userId)
      .where(
        sql<boolean>`(not email_verified or exists (select 1 from vouched_addresses v where v.user_id = users.id))`,
      )
      .executeTakeFirst()
    if (claimed.numUpdatedRows === 0n) return false
    await tx.deleteFrom('vouched_addresses').where('user_id', '=', userId).execute()
    await dropKeys(tx, userId)
    await endSessions(tx, userId)
    await tx
      .deleteFrom('login_accounts')
      .where('user_id', '=', userId)
      .where('provider_id', '!=', 'credential')
      .execute()
    return true
  })
}
