import { ServiceError } from '@dock/contract'
import type { Tx } from '../../database/database.ts'
import type { Caller } from '../accounts/index.ts'

/**
 * Returns when the caller's own credential ends, or null if it does not expire. What an API key makes ends no later than
 * the key: who finds a key that was meant for an hour must not keep access for longer. Sessions are of people, who may
 * give out keys that outlast them. Throws `unauthorized` if the key has ended meanwhile.
 */
export async function expiryOfCaller(tx: Tx, caller: Caller, now: Date): Promise<Date | null> {
  if (caller.kind === 'session') return null
  const key = await tx
    .selectFrom('api_keys')
    .select(['expires_at', 'revoked_at'])
    .where('id', '=', caller.credentialId)
    .executeTakeFirst()
  if (!key || key.revoked_at || (key.expires_at && key.expires_at <= now))
    throw new ServiceError('unauthorized')
  return key.expires_at
}
