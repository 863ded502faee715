/** Hands an unverified account to the owner of its address, who has set a password through a mailed link. */
import { type Db, type Tx, withTransaction } from '../../../database/database.ts'
import { endSessions } from '../end-sessions.ts'

export type DropKeys = (tx: Tx, userId: string) => Promise<void>

/**
 * Marks the address as verified and revokes the account's keys, sessions and linked logins, because somebody else may
 * have created the account. Does nothing if the address is already verified.
 */
export function claimAddress(db: Db, dropKeys: DropKeys, userId: string): Promise<void> {
  return withTransaction(db, async (tx) => {
    const claimed = await tx
      .updateTable('users')
      .set({ email_verified: true })
      .where('id', '=', userId)
      .where('email_verified', '=', false)
      .executeTakeFirst()
    if (claimed.numUpdatedRows === 0n) return
    await dropKeys(tx, userId)
    await endSessions(tx, userId)
    await tx
      .deleteFrom('login_accounts')
      .where('user_id', '=', userId)
      .where('provider_id', '!=', 'credential')
      .execute()
  })
}
