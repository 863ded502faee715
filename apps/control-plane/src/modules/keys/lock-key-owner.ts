import { ServiceError } from '@dock/contract'
import type { Tx } from '../../database/database.ts'

/**
 * Locks the row of a user who is getting a key. The lock makes concurrent additions count each other, and lets a
 * concurrent closing of the account finish first.
 *
 * Throws `account_closed`. Throws `email_verification_required` if the address is not verified: the user may not own
 * it, and the key would keep working after the owner claims the account.
 */
export async function lockKeyOwner(tx: Tx, userId: string): Promise<void> {
  const person = await tx
    .selectFrom('users')
    .select(['closed_at', 'erased_at', 'email_verified'])
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!person || person.erased_at) throw new ServiceError('account_closed', { status: 410 })
  if (person.closed_at) throw new ServiceError('account_closed')
  if (!person.email_verified) throw new ServiceError('email_verification_required')
}
