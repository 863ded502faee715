/** Erases closed accounts after the grace period. Deletes the rows of erased accounts once their last session ends. */
import { withTransaction } from '../../database/database.ts'
import { deleteErasedUsers } from '../accounts/index.ts'
import { promoteNextOwner } from '../organizations/index.ts'
import { graceMs } from './close-account.ts'
import type { ClosureContext } from './closure-context.ts'
import { listOverdue, lockOwnOrganizations, lockPerson } from './closure-store.ts'
import { afterErasure } from './erase-account.ts'
import { erasePerson } from './erase-person.ts'

const batch = 20

/** Erases one account. A shared organization without another owner gets one, because the person cannot be asked. */
const purgeOne = async (context: ClosureContext, userId: string, before: Date): Promise<void> => {
  const erased = await withTransaction(context.db, async (tx) => {
    const person = await lockPerson(tx, userId)
    // The account was reopened, and maybe closed again, since the list was read.
    if (!person.closedAt || person.closedAt > before) return null
    const organizations = await lockOwnOrganizations(tx, userId)
    for (const { id, others, soleOwner } of organizations)
      if (others > 0 && soleOwner) await promoteNextOwner(tx, id, userId, context.clock.now())
    return erasePerson(context, tx, { kind: 'platform' }, person, organizations, null)
  })
  if (erased) await afterErasure(context, erased)
}

/** Runs one round. An account that cannot be erased does not stop the others. */
export async function purgeAccounts(context: ClosureContext): Promise<void> {
  const before = new Date(context.clock.now().getTime() - graceMs)
  for (const userId of await listOverdue(context.db, before, batch)) {
    try {
      await purgeOne(context, userId, before)
    } catch (error) {
      context.logger.error(
        { err: error, userId },
        'cannot erase a closed account; retrying in the next round',
      )
    }
  }
  await deleteErasedUsers(context.db, context.clock.now())
}
