/** Routes of an organization's limits. The HTTP layer lets only instance admins change them. */
import type { Handlers } from '../../routing/handler.ts'
import { changeOrganizationLimits } from './change-limits.ts'
import type { LimitsContext } from './limits-context.ts'
import { readOrganizationLimits } from './read-limits.ts'

export function limitRoutes(context: LimitsContext): Handlers {
  return {
    readOrganizationLimits: ({ caller }) => readOrganizationLimits(context, caller.organizationId),
    changeOrganizationLimits: ({ caller, params, body }) =>
      changeOrganizationLimits(context, caller, params.id, body),
  }
}
