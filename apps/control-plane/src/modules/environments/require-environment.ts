/** The Environment that a path names, once the caller's role in its organization reaches. */
import { ServiceError } from '@dock/contract'
import { isUuid } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import type { EnvironmentContext, EnvironmentReference } from './environment-context.ts'
import { findEnvironment, type VisibleEnvironment } from './environment-store.ts'

/** Throws `environment_not_found`, `forbidden`, or `validation_error` for a name without its organization. */
export async function requireEnvironment(
  { db }: Pick<EnvironmentContext, 'db'>,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<VisibleEnvironment> {
  if (!isUuid(reference.ref) && !isUuid(reference.organizationId ?? ''))
    throw new ServiceError('validation_error', {
      message: 'organizationId: is required, as a uuid, where an Environment is given by its name.',
    })
  return caller.admit(await findEnvironment(db, caller.userId, reference))
}
