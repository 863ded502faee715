/** Routes of an organization's limits. The HTTP layer lets only instance admins change them. */
import {
  changeOrganizationLimits,
  type LimitsContext,
  readOrganizationLimits,
} from '../../modules/limits/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function limitHandlers(context: LimitsContext): Handlers {
  return {
    readOrganizationLimits: ({ caller }) => readOrganizationLimits(context, caller.organizationId),
    changeOrganizationLimits: ({ params, body }) => changeOrganizationLimits(context, params.id, body),
  }
}
