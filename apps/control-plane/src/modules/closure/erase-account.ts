import { eraseConfirmation, ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Caller } from '../accounts/index.ts'
import type { ClosureContext } from './closure-context.ts'
import { lockOwnOrganizations, lockPerson, requireNoSoleOwner } from './closure-store.ts'
import { type ErasedPerson, erasePerson } from './erase-person.ts'

/**
 * Erases the caller's data permanently, whether or not the account is closed. Organizations without other members are
 * deleted too. Throws `confirm_required` and `sole_owner_of_shared_org`.
 */
export async function eraseAccount(
  context: ClosureContext,
  caller: Caller,
  body: { confirmation?: string | undefined },
): Promise<{ erased: true }> {
  if (body.confirmation !== eraseConfirmation) {
    throw new ServiceError('confirm_required', {
      message: `To confirm, set confirmation to '${eraseConfirmation}'.`,
    })
  }
  const erased = await withTransaction(context.db, async (tx) => {
    const person = await lockPerson(tx, caller.userId)
    const organizations = await lockOwnOrganizations(tx, person.id)
    requireNoSoleOwner(organizations)
    return erasePerson(context, tx, caller, person, organizations, caller.credentialId)
  })
  await afterErasure(context, erased)
  return { erased: true }
}

/** Runs after the commit of an erasure. It must not throw, because the erasure is done. */
export async function afterErasure(context: ClosureContext, erased: ErasedPerson): Promise<void> {
  context.sealer.forget({ kind: 'person', id: erased.id })
  context.wakeStops()
  context.wakeRemoval()
  await context
    .forgetFiles(erased)
    .catch((error: unknown) =>
      context.logger.error({ err: error }, 'cannot delete the files of an erased person'),
    )
}
