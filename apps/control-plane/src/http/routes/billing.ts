/** Routes of usage and plans. The HTTP layer lets only instance admins set a plan. */
import {
  type BillingContext,
  listPlannedOrganizations,
  readOrganizationUsage,
  setOrganizationPlan,
} from '../../modules/billing/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function billingHandlers(context: BillingContext): Handlers {
  return {
    readOrganizationUsage: ({ caller, query }) =>
      readOrganizationUsage(context, caller.organizationId, query),
    listPlannedOrganizations: ({ query }) => listPlannedOrganizations(context, query),
    setOrganizationPlan: ({ params, body }) => setOrganizationPlan(context, params.id, body),
  }
}
