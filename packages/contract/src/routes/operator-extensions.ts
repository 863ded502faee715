/** Extensions, not part of the specification: routes of the dashboard's pages for instance admins. */
import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import {
  adoptedItem,
  plannedOrganizationPage,
  quarantineList,
  unverifiedPeople,
  vouchedAddress,
} from '../objects/operator.ts'
import { route } from '../route.ts'

const access = { credentials: 'instance-admin-session' } as const
const adminErrors = ['session_required', 'instance_admin_required', 'email_verification_required'] as const
const itemParams = z.object({ id: field.uuid })

export const operatorExtensionRoutes = {
  listQuarantine: route({
    method: 'GET',
    path: '/api/dashboard/quarantine',
    summary: 'List the data of hosts and the object store that the database does not know, oldest first',
    description: 'Lists at most 200 items that wait for a decision.',
    extension: true,
    tag: 'Dashboard',
    access,
    response: quarantineList,
    errors: [...adminErrors],
  }),
  adoptQuarantined: route({
    method: 'POST',
    path: '/api/dashboard/quarantine/:id/adopt',
    summary: 'Adopt a quarantined disk: it becomes a Snapshot of its Dock, or of a new archived Dock',
    description:
      'Name an organization only if neither the database nor the host knows to whom the disk belongs.',
    extension: true,
    tag: 'Dashboard',
    access,
    params: itemParams,
    body: z.strictObject({ organizationId: field.uuid.optional() }),
    response: adoptedItem,
    errors: ['validation_error', 'not_found', 'conflict', ...adminErrors],
    notFound: 'not_found',
  }),
  deleteQuarantined: route({
    method: 'DELETE',
    path: '/api/dashboard/quarantine/:id',
    summary: 'Delete a quarantined item for good',
    description: 'Its host removes the data after its next report.',
    extension: true,
    tag: 'Dashboard',
    access,
    params: itemParams,
    response: field.removed,
    errors: ['not_found', 'conflict', ...adminErrors],
    notFound: 'not_found',
  }),
  listUnverifiedPeople: route({
    method: 'GET',
    path: '/api/dashboard/unverified-people',
    summary: 'List the people whose address is not verified, newest first',
    description: 'Lists at most 200, with the invitation whose link they signed up with.',
    extension: true,
    tag: 'Dashboard',
    access,
    response: unverifiedPeople,
    errors: [...adminErrors],
  }),
  vouchForAddress: route({
    method: 'POST',
    path: '/api/dashboard/unverified-people/:id/vouch',
    summary: "Vouch for a person's address: it becomes verified without a mail",
    description:
      'For instances that send no mail. Ask the owner of the address first: the account may do everything afterwards. Who vouched for which address, and when, is recorded.',
    extension: true,
    tag: 'Dashboard',
    access,
    params: itemParams,
    response: vouchedAddress,
    errors: ['user_not_found', ...adminErrors],
    notFound: 'user_not_found',
  }),
  listPlannedOrganizations: route({
    method: 'GET',
    path: '/api/dashboard/plans',
    summary: 'List organizations with their plans and what the month has cost, newest first',
    description: 'If `nextCursor` is not null, send it as `cursor` to get the next page.',
    extension: true,
    tag: 'Dashboard',
    access,
    query: z.object({
      limit: field.queryInteger(1, limits.dashboard.pageMax).default(limits.dashboard.pageDefault),
      cursor: z.string().min(1).optional(),
      /** Part of the name, or the slug. */
      q: z.string().max(limits.dashboard.searchLengthMax).optional(),
    }),
    response: plannedOrganizationPage,
    errors: ['validation_error', ...adminErrors],
  }),
} as const
