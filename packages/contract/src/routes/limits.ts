/** Extensions, not part of the specification: the limits of an organization. */
import { organizationLimits, organizationLimitsChange } from '../objects/limits.ts'
import { route } from '../route.ts'
import { organizationParams } from './organizations.ts'

export const limitRoutes = {
  readOrganizationLimits: route({
    method: 'GET',
    path: '/v1/organizations/:id/limits',
    summary: 'Read the limits of an organization and its current usage',
    description:
      'A request that would exceed a limit names the limit. A start of a Dock fails with `concurrency_exceeded`, any other request with `conflict`.',
    extension: true,
    tag: 'Organizations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'member' },
    params: organizationParams,
    response: organizationLimits,
    errors: ['organization_not_found'],
    notFound: 'organization_not_found',
  }),
  changeOrganizationLimits: route({
    method: 'PATCH',
    path: '/v1/organizations/:id/limits',
    summary: 'As an instance admin, set limits of any organization; null resets a limit to the default',
    description: 'A limit below the current usage stops nothing that exists. It refuses only what is new.',
    extension: true,
    tag: 'Organizations',
    access: { credentials: 'instance-admin' },
    params: organizationParams,
    body: organizationLimitsChange,
    response: organizationLimits,
    errors: [
      'validation_error',
      'organization_not_found',
      'instance_admin_required',
      'email_verification_required',
    ],
    notFound: 'organization_not_found',
  }),
} as const
