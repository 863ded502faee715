/** Resolves the Environment in a request path and checks the caller's role in its organization. */
import { ServiceError } from '@dock/contract'
import { isUuid } from '@dock/foundation'
import type { Visitor } from '../accounts/index.ts'
import type { EnvironmentContext, EnvironmentReference } from './environment-context.ts'
import { findEnvironment, type VisibleEnvironment } from './environment-store.ts'

/** Returns how an entry of the audit log names the Environment. */
export function targetOf({
  id,
  name,
  organizationId,
}: Pick<VisibleEnvironment, 'id' | 'name' | 'organizationId'>) {
  return { organizationId, target: { type: 'environment', id, name } }
}

/**
 * Returns the Environment. Throws `environment_not_found`, `forbidden`, and `validation_error` for a name without an
 * organization.
 */
export async function requireEnvironment(
  { db }: Pick<EnvironmentContext, 'db'>,
  caller: Visitor,
  reference: EnvironmentReference,
): Promise<VisibleEnvironment> {
  if (!isUuid(reference.ref) && !isUuid(reference.organizationId ?? ''))
    throw new ServiceError('validation_error', {
      message: 'organizationId: must be a UUID if the Environment is identified by name.',
    })
  return caller.admit(await findEnvironment(db, caller.userId, reference))
}
