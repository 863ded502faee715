import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { recordAudit } from '../../audit/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { revokeApiKeyRow } from './api-key-store.ts'

/** Revokes one of the caller's keys, effective before this returns. Idempotent. Throws `api_key_not_found`. */
export function revokeApiKey(
  { db, clock }: Pick<KeysContext, 'db' | 'clock'>,
  caller: Caller,
  id: string,
): Promise<{ revoked: true }> {
  const now = clock.now()
  return withTransaction(db, async (tx) => {
    const key = await revokeApiKeyRow(tx, caller.userId, id, now)
    if (!key) throw new ServiceError('api_key_not_found')
    const target = { type: 'api_key', id, name: key.name }
    if (key.isNew)
      await recordAudit(tx, caller, { action: 'api_key.revoked', now, organizationId: 'own', target })
    return { revoked: true }
  })
}
