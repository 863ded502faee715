/** Extensions, not part of the specification: an organization's usage and its plan. */
import * as z from 'zod'
import * as field from '../fields.ts'
import { organizationPlan, organizationPlanChange, organizationUsage } from '../objects/billing.ts'
import { route } from '../route.ts'
import { organizationParams } from './organizations.ts'

export const billingRoutes = {
  readOrganizationUsage: route({
    method: 'GET',
    path: '/v1/organizations/:id/usage',
    summary: 'Read what an organization, or one of its Docks, used in a month (UTC)',
    description:
      'Usage is counted by the day, in UTC. Days before `closedUntil` no longer change. With `dockId`, only the usage of this Dock is counted.',
    extension: true,
    tag: 'Organizations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'member' },
    params: organizationParams,
    query: z.object({
      /** The current month if omitted. */
      month: z
        .string()
        .regex(/^20\d{2}-(0[1-9]|1[0-2])$/, 'must be YYYY-MM')
        .optional(),
      dockId: field.uuid.optional(),
    }),
    response: organizationUsage,
    errors: ['validation_error', 'organization_not_found'],
    notFound: 'organization_not_found',
  }),
  setOrganizationPlan: route({
    method: 'PUT',
    path: '/v1/organizations/:id/plan',
    summary: 'As an instance admin, give an organization a plan or take it away',
    description: "The plans are those in the file of the instance's operator. `null` takes the plan away.",
    extension: true,
    tag: 'Organizations',
    access: { credentials: 'instance-admin-session' },
    params: organizationParams,
    body: organizationPlanChange,
    response: organizationPlan,
    errors: [
      'validation_error',
      'organization_not_found',
      'session_required',
      'instance_admin_required',
      'email_verification_required',
    ],
    notFound: 'organization_not_found',
  }),
} as const
