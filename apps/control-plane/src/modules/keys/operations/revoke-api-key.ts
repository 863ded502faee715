import { ServiceError } from '@dock/contract'
import type { Caller } from '../../accounts/index.ts'
import { revokeApiKeyRow } from '../api-key-store.ts'
import type { KeysContext } from '../keys-context.ts'

/** Ends a key of the caller's; it stops working with the answer. Repeating it is harmless. */
export async function revokeApiKey(
  context: Pick<KeysContext, 'db' | 'clock'>,
  caller: Caller,
  id: string,
): Promise<{ revoked: true }> {
  if (!(await revokeApiKeyRow(context.db, caller.userId, id, context.clock.now()))) {
    throw new ServiceError('api_key_not_found')
  }
  return { revoked: true }
}
