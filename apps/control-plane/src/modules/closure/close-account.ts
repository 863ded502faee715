import { limits } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import { type Caller, closeUser, endSessions } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { orderStops } from '../docks/index.ts'
import { dropKeys } from '../keys/index.ts'
import type { ClosureContext } from './closure-context.ts'
import { lockOwnOrganizations, lockPerson, requireNoSoleOwner } from './closure-store.ts'

/** Time between closing an account and its erasure, in milliseconds. */
export const graceMs = limits.accountGraceDays * 24 * 3_600_000

/**
 * Closes the caller's account. Keys and sessions end at once, and running Docks are stopped afterwards. All data is kept
 * until `purgeAt`. Idempotent. Throws `sole_owner_of_shared_org`.
 */
export async function closeAccount(
  context: ClosureContext,
  caller: Caller,
): Promise<{ closed: true; purgeAt: string }> {
  const now = context.clock.now()
  const closedAt = await withTransaction(context.db, async (tx) => {
    const person = await lockPerson(tx, caller.userId)
    if (person.closedAt) return person.closedAt
    requireNoSoleOwner(await lockOwnOrganizations(tx, person.id))
    await closeUser(tx, person.id, now)
    const target = { type: 'person', id: person.id }
    await recordAudit(tx, caller, { action: 'account.closed', now, organizationId: 'own', target })
    await orderStops(tx, person.id, now)
    await dropKeys(tx, person.id, now)
    await endSessions(tx, person.id)
    return now
  })
  context.wakeStops()
  return { closed: true, purgeAt: new Date(closedAt.getTime() + graceMs).toISOString() }
}
