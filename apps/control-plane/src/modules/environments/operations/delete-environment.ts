/** DELETE /v1/environments/:ref */
import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Visitor } from '../../accounts/index.ts'
import type { EnvironmentContext, EnvironmentReference } from '../environment-context.ts'
import { deleteEnvironmentRow } from '../environment-store.ts'
import { requireEnvironment } from '../require-environment.ts'

/** Deletes an Environment, never the last one. Docks that started with it keep what they have until they boot again. */
export async function deleteEnvironment(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<{ deleted: true }> {
  const environment = await requireEnvironment(context, caller, reference)
  if (!(await withTransaction(context.db, (tx) => deleteEnvironmentRow(tx, environment))))
    throw new ServiceError('validation_error', {
      message: 'An organization keeps at least one Environment. Make another one first.',
    })
  return { deleted: true }
}
