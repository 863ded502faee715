/** Routes of an organization's limits. The HTTP layer lets only instance admins change them. */
import type { Db } from '../../database/database.ts'
import { changeOrganizationLimits, type Limits, readOrganizationLimits } from '../../modules/limits/index.ts'
import type { Handlers } from '../handler.ts'

export function limitHandlers(context: { db: Db; defaults: Limits }): Handlers {
  return {
    readOrganizationLimits: ({ caller }) => readOrganizationLimits(context, caller.organizationId),
    changeOrganizationLimits: ({ params, body }) => changeOrganizationLimits(context, params.id, body),
  }
}
