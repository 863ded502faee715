import { type CreatedApiKey, ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { recordAudit } from '../../audit/index.ts'
import { expiryOfCaller } from '../expiry-of-caller.ts'
import type { KeysContext } from '../keys-context.ts'
import { lockKeyOwner } from '../lock-key-owner.ts'
import { insertApiKeyWithinLimit } from './api-key-store.ts'
import { apiKeyView } from './api-key-view.ts'

/**
 * Creates a key that acts as the caller. Only this response contains the raw key. It ends no later than the key with which
 * the caller asks.
 * Throws `validation_error` for an expiry in the past or after the year 9999, and `api_key_limit_reached`.
 */
export async function createApiKey(
  context: KeysContext,
  caller: Caller,
  body: { name: string; expiresAt?: string | undefined },
): Promise<CreatedApiKey> {
  const now = context.clock.now()
  const wanted = body.expiresAt === undefined ? null : new Date(body.expiresAt)
  if (wanted && !(wanted > now)) {
    throw new ServiceError('validation_error', { message: 'expiresAt: must be in the future' })
  }
  // An offset can move it there. Such a year has no text that the contract's timestamps allow.
  if (wanted && wanted.getUTCFullYear() > 9999)
    throw new ServiceError('validation_error', { message: 'expiresAt: must be before the year 10000' })
  await context.rateLimits.take('apiKeyCreations', caller.userId)
  return withTransaction(context.db, async (tx) => {
    await lockKeyOwner(tx, caller.userId)
    const limit = await expiryOfCaller(tx, caller, now)
    const expiresAt = limit && (!wanted || wanted > limit) ? limit : wanted
    const key = { userId: caller.userId, name: body.name, expiresAt, now }
    const { row, raw } = await insertApiKeyWithinLimit(tx, key)
    await recordAudit(tx, caller, {
      action: 'api_key.created',
      now,
      organizationId: 'own',
      target: { type: 'api_key', id: row.id, name: row.name },
      details: { expiresAt: row.expires_at?.toISOString() ?? null },
    })
    return { ...apiKeyView(row), apiKey: raw }
  })
}
