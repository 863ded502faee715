import { ServiceError } from '@dock/contract'
import type { Caller } from '../../accounts/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { revokeApiKeyRow } from './api-key-store.ts'

/** Revokes one of the caller's keys, effective before this returns. Idempotent. Throws `api_key_not_found`. */
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
