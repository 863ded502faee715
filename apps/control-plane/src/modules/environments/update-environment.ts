/** PATCH /v1/environments/:ref. */
import { type Environment, type RouteBody, type routes, ServiceError } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { changesOf, recordAudit } from '../audit/index.ts'
import { renameEnvironmentOfDocks } from '../docks/index.ts'
import { checkName, mapEnvironmentError } from './create-environment.ts'
import type { EnvironmentContext, EnvironmentReference } from './environment-context.ts'
import { lockDefault, type Posture, updateEnvironmentRow } from './environment-store.ts'
import { viewEnvironment } from './environment-view.ts'
import { makeVersion } from './make-version.ts'
import { requireEnvironment, targetOf } from './require-environment.ts'

const readPosture = (body: RouteBody<(typeof routes)['updateEnvironment']>): Partial<Posture> => {
  const { name: _name, isDefault: _isDefault, secretsAccess: _secretsAccess, ...flags } = body
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined))
}

/**
 * Changes the name, the default, who may launch with the Environment, or what it passes. Only the last one creates a
 * version. Throws `environment_name_taken`, `validation_error` and `conflict`.
 */
export async function updateEnvironment(
  context: EnvironmentContext,
  caller: Visitor,
  reference: EnvironmentReference,
  body: RouteBody<(typeof routes)['updateEnvironment']>,
): Promise<Environment> {
  checkName(body.name)
  const environment = await requireEnvironment(context, caller, reference)
  const { name, secretsAccess } = body
  if (body.isDefault === false && environment.isDefault)
    throw new ServiceError('validation_error', {
      message: 'isDefault: cannot be unset. Make another Environment the default instead.',
    })
  const change = { name, secretsAccess, ...(body.isDefault ? { isDefault: true as const } : {}) }
  const now = context.clock.now()
  try {
    const after = await makeVersion(context, environment, {
      posture: readPosture(body),
      acquireLocks: async (tx) => {
        if (change.isDefault) await lockDefault(tx, environment.organizationId)
      },
      alsoChange: async (tx) => {
        if (Object.values(change).some((value) => value !== undefined)) {
          if (!(await updateEnvironmentRow(tx, environment.id, change, now)))
            throw new ServiceError('environment_not_found')
          if (name !== undefined) await renameEnvironmentOfDocks(tx, environment.id, name)
        }
        const details = changesOf(environment, { ...change, ...readPosture(body) })
        if (details)
          await recordAudit(tx, caller, {
            action: 'environment.updated',
            now,
            ...targetOf(environment),
            details,
          })
      },
    })
    return viewEnvironment(after)
  } catch (error) {
    throw mapEnvironmentError(error)
  }
}
