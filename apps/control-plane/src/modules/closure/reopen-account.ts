import { withTransaction } from '../../database/database.ts'
import { type Caller, reopenUser } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { cancelOrderedStops } from '../docks/index.ts'
import type { ClosureContext } from './closure-context.ts'
import { lockPerson } from './closure-store.ts'

/**
 * Opens a closed account again. Its keys stay revoked. Docks that were not stopped yet keep running. Returns `reopened:
 * false` if the account was not closed.
 */
export function reopenAccount(context: ClosureContext, caller: Caller): Promise<{ reopened: boolean }> {
  return withTransaction(context.db, async (tx) => {
    await lockPerson(tx, caller.userId)
    const now = context.clock.now()
    const reopened = await reopenUser(tx, caller.userId, now)
    if (!reopened) return { reopened }
    await cancelOrderedStops(tx, caller.userId)
    const target = { type: 'person', id: caller.userId }
    await recordAudit(tx, caller, { action: 'account.reopened', now, organizationId: 'own', target })
    return { reopened }
  })
}
