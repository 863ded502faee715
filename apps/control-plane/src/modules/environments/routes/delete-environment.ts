/** DELETE /v1/environments/:ref. */
import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Visitor } from '../../accounts/index.ts'
import type { EnvironmentContext, EnvironmentReference } from '../environment-context.ts'
import { deleteEnvironmentRow } from '../environment-store.ts'
import { requireEnvironment } from '../require-environment.ts'

/**
 * Deletes an Environment. Throws `validation_error` if it is the organization's last one. Docks that started with it
 * keep its variables and files until their next boot.
 */
export async function deleteEnvironment(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<{ deleted: true }> {
  const environment = await requireEnvironment(context, caller, reference)
  if (!(await withTransaction(context.db, (tx) => deleteEnvironmentRow(tx, environment))))
    throw new ServiceError('validation_error', {
      message: 'An organization needs at least one Environment. Create another one first.',
    })
  return { deleted: true }
}
