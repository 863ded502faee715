/** What happens as the owner of an address sets a password by mail for an account whose address nobody had verified. */
import { type Db, type Tx, withTransaction } from '../../../database/database.ts'
import { endSessions } from '../end-sessions.ts'

export type DropKeys = (tx: Tx, userId: string) => Promise<void>

/**
 * Verifies the address, which the mailed link has proven, and ends every way in that was made before: whoever made the
 * account may be somebody else. Does nothing for an address that is verified already.
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
