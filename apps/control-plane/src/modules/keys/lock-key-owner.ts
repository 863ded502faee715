import { ServiceError } from '@dock/contract'
import type { Tx } from '../../database/database.ts'

/**
 * Holds the row of a person who gets a key, so that two who add keys for them count each other's, and a closing account
 * is seen. Throws `account_closed`, and `email_verification_required`: a key for an address that somebody else owns
 * would outlive the day on which the owner sets a password.
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
