import * as z from 'zod'
import * as field from '../fields.ts'
import { limits } from '../limits.ts'
import { member, membership, organization, organizationWithoutRole } from '../objects/organizations.ts'
import { route } from '../route.ts'

/** `id` is the id of an organization. */
export const organizationParams = z.object({ id: field.uuid })

const memberParams = organizationParams.extend({ userId: field.uuid })
const seats = z.int().min(limits.seats.min).max(2_147_483_647)

export const organizationRoutes = {
  createOrganization: route({
    method: 'POST',
    path: '/v1/organizations',
    summary: 'Create an organization and its first workspace; the caller becomes owner',
    description: 'The slug is made from the name if you send none.',
    tag: 'Organizations',
    access: { credentials: 'caller', scope: 'person' },
    status: 201,
    body: z.strictObject({
      name: field.displayableName,
      /** Derived from the name when omitted. */
      slug: field.slug.optional(),
      seats: seats.default(limits.seats.default),
    }),
    response: organization,
    errors: ['validation_error', 'slug_taken', 'conflict'],
  }),
  listOrganizations: route({
    method: 'GET',
    path: '/v1/organizations',
    summary: "List the caller's organizations",
    description: 'Each has your role in it.',
    tag: 'Organizations',
    access: { credentials: 'caller', scope: 'organizations' },
    response: z.array(organization),
    errors: [],
  }),
  readOrganization: route({
    method: 'GET',
    path: '/v1/organizations/:id',
    summary: 'Read an organization',
    description: 'Has your role in the organization.',
    tag: 'Organizations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'member' },
    params: organizationParams,
    response: organization,
    errors: ['organization_not_found'],
    notFound: 'organization_not_found',
  }),
  updateOrganization: route({
    method: 'PATCH',
    path: '/v1/organizations/:id',
    summary: 'Change the name, slug or seats of an organization',
    description:
      'Only the fields that you send change. Seats cannot be fewer than the members and pending invitations.',
    tag: 'Organizations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'admin' },
    params: organizationParams,
    body: z.strictObject({
      name: field.displayableName.optional(),
      slug: field.slug.optional(),
      seats: seats.optional(),
    }),
    response: organizationWithoutRole,
    errors: ['validation_error', 'organization_not_found', 'forbidden', 'slug_taken'],
    notFound: 'organization_not_found',
  }),
  deleteOrganization: route({
    method: 'DELETE',
    path: '/v1/organizations/:id',
    summary: 'Delete an organization',
    description:
      'It is gone for everybody at once. Its Docks, Snapshots and keys are removed in the background. This cannot be undone.',
    tag: 'Organizations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'owner' },
    params: organizationParams,
    response: field.deleted,
    errors: ['organization_not_found', 'forbidden'],
    notFound: 'organization_not_found',
  }),
  listMembers: route({
    method: 'GET',
    path: '/v1/organizations/:id/members',
    summary: 'List the members of an organization',
    description: 'Each has the email address and role of the member.',
    tag: 'Organizations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'member' },
    params: organizationParams,
    response: z.array(member),
    errors: ['organization_not_found'],
    notFound: 'organization_not_found',
  }),
  inviteMember: route({
    method: 'POST',
    path: '/v1/organizations/:id/members',
    summary: 'Invite someone by email; only an owner may invite an owner',
    description:
      'Send exactly one of `email` and `userId`. The response is the same whether or not the address has an account. `userId` names a person with whom you share an organization.',
    tag: 'Organizations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'admin' },
    status: 201,
    params: organizationParams,
    body: z
      .strictObject({
        email: z.email().max(limits.contact.emailLengthMax).optional(),
        userId: field.uuid.optional(),
        role: field.role.default('member'),
      })
      .refine((body) => (body.email === undefined) !== (body.userId === undefined), {
        path: ['email'],
        message: 'send exactly one of email and userId',
      }),
    /** The same for every address, so the response does not reveal accounts or members. */
    response: z.strictObject({ status: z.literal('accepted') }),
    errors: [
      'validation_error',
      'organization_not_found',
      'user_not_found',
      'seats_exceeded',
      'forbidden',
      'conflict',
      'rate_limited',
    ],
    notFound: 'organization_not_found',
  }),
  changeMemberRole: route({
    method: 'PATCH',
    path: '/v1/organizations/:id/members/:userId',
    summary: "Change a member's role; only an owner may change owners",
    description: 'An organization always keeps at least one owner.',
    tag: 'Organizations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'admin' },
    params: memberParams,
    body: z.strictObject({ role: field.role }),
    response: membership,
    errors: [
      'validation_error',
      'organization_not_found',
      'member_not_found',
      'cannot_remove_owner',
      'forbidden',
      'conflict',
    ],
    notFound: 'organization_not_found',
    paramNotFound: { userId: 'member_not_found' },
  }),
  removeMember: route({
    method: 'DELETE',
    path: '/v1/organizations/:id/members/:userId',
    summary: 'Remove a member; only an owner may remove owners',
    description: 'The person loses access to the organization at once.',
    tag: 'Organizations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'admin' },
    params: memberParams,
    response: field.removed,
    errors: ['organization_not_found', 'member_not_found', 'cannot_remove_owner', 'forbidden'],
    notFound: 'organization_not_found',
    paramNotFound: { userId: 'member_not_found' },
  }),
} as const
