/** Routes of an organization's limits. The HTTP layer lets only instance admins change them. */
import type { Db } from '../../database/database.ts'
import type { Handlers } from '../../routing/handler.ts'
import { changeOrganizationLimits } from './change-limits.ts'
import type { Limits } from './organization-limits.ts'
import { readOrganizationLimits } from './read-limits.ts'

/** `defaults`: limits of organizations that have none of their own. */
export type LimitsContext = { db: Db; defaults: Limits }

export function limitRoutes(context: LimitsContext): Handlers {
  return {
    readOrganizationLimits: ({ caller }) => readOrganizationLimits(context, caller.organizationId),
    changeOrganizationLimits: ({ params, body }) => changeOrganizationLimits(context, params.id, body),
  }
}
