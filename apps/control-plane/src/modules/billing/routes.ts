/** Routes of usage and plans. The HTTP layer lets only instance admins set a plan. */
import type { Handlers } from '../../routing/handler.ts'
import type { BillingContext } from './billing-context.ts'
import { listPlannedOrganizations } from './list-planned.ts'
import { readOrganizationUsage } from './read-usage.ts'
import { setOrganizationPlan } from './set-plan.ts'

export function billingRoutes(context: BillingContext): Handlers {
  return {
    readOrganizationUsage: ({ caller, query }) =>
      readOrganizationUsage(context, caller.organizationId, query),
    listPlannedOrganizations: ({ query }) => listPlannedOrganizations(context, query),
    setOrganizationPlan: ({ caller, params, body }) => setOrganizationPlan(context, caller, params.id, body),
  }
}
