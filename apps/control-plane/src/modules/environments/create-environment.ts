/** POST /v1/environments. */
import { type Environment, type RouteBody, type routes, ServiceError } from '@dock/contract'
import { isUuid, newUuid } from '@dock/foundation'
import { withTransaction } from '../../database/database.ts'
import { isUniqueViolation } from '../../database/violations.ts'
import type { Member } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { requireRoomForEnvironment } from '../limits/index.ts'
import { describeBundle, emptyBundle } from './bundle.ts'
import type { EnvironmentContext } from './environment-context.ts'
import { insertEnvironment, insertVersion, readEnvironmentRow } from './environment-store.ts'
import { viewEnvironment } from './environment-view.ts'

/** Throws `validation_error` for a name that is a UUID, because it could not be distinguished from an id. */
export function checkName(name: string | undefined): void {
  if (name !== undefined && isUuid(name))
    throw new ServiceError('validation_error', { message: 'name: must not be a UUID.' })
}

/** Maps a violation of the unique name to `environment_name_taken`. Returns other errors unchanged. */
export function mapEnvironmentError(error: unknown): unknown {
  return isUniqueViolation(error, 'environments_name') ? new ServiceError('environment_name_taken') : error
}

/** Creates an empty Environment at version 1. Throws `environment_name_taken`, and `conflict` at the limit. */
export async function createEnvironment(
  { db, clock, limits }: EnvironmentContext,
  caller: Member,
  body: RouteBody<(typeof routes)['createEnvironment']>,
): Promise<Environment> {
  checkName(body.name)
  const { organizationId } = caller
  const [id, now] = [newUuid(), clock.now()]
  const { name, secretsAccess } = body
  try {
    await withTransaction(db, async (tx) => {
      await requireRoomForEnvironment(tx, organizationId, limits)
      await insertEnvironment(tx, { id, organizationId, name, secretsAccess, now })
      await insertVersion(tx, {
        id: newUuid(),
        environmentId: id,
        organizationId,
        version: 1,
        sealed: null,
        ...describeBundle(emptyBundle),
        safeForThirdParties: false,
        passGithub: true,
        passSecrets: true,
        passDockCredentials: false,
        passAgentsCredentials: false,
        now,
      })
      const target = { type: 'environment', id, name }
      await recordAudit(tx, caller, { action: 'environment.created', now, organizationId, target })
    })
  } catch (error) {
    throw mapEnvironmentError(error)
  }
  const row = await readEnvironmentRow(db, id)
  if (!row) throw new ServiceError('organization_not_found')
  return viewEnvironment(row)
}
