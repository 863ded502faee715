/** DELETE /v1/environments/:ref. */
import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Visitor } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { forgetOpenEnvironment } from '../docks/index.ts'
import type { EnvironmentContext, EnvironmentReference } from './environment-context.ts'
import { deleteEnvironmentRow, lockDefault, lockIsOpen } from './environment-store.ts'
import { requireEnvironment, targetOf } from './require-environment.ts'

/**
 * Deletes an Environment. Throws `validation_error` if it is the organization's last one. Docks that started with it
 * keep its variables and files until their next boot, and stay as open to members as it was.
 */
export async function deleteEnvironment(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<{ deleted: true }> {
  const environment = await requireEnvironment(context, caller, reference)
  const isDeleted = await withTransaction(context.db, async (tx) => {
    await lockDefault(tx, environment.organizationId)
    if (await lockIsOpen(tx, environment.id)) await forgetOpenEnvironment(tx, environment)
    if (!(await deleteEnvironmentRow(tx, environment))) return false
    await recordAudit(tx, caller, {
      action: 'environment.deleted',
      now: context.clock.now(),
      ...targetOf(environment),
    })
    return true
  })
  if (!isDeleted)
    throw new ServiceError('validation_error', {
      message: 'An organization needs at least one Environment. Create another one first.',
    })
  return { deleted: true }
}
