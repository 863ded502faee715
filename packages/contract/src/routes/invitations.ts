import * as z from 'zod'
import * as field from '../fields.ts'
import {
  invitation,
  invitationAccepted,
  invitationDeclined,
  invitationPreview,
} from '../objects/organizations.ts'
import { route } from '../route.ts'
import { organizationParams } from './organizations.ts'

const sentParams = organizationParams.extend({ invitationId: field.uuid })
const ownParams = z.object({ invitationId: field.uuid })
const tokenParams = z.object({ token: z.string() })

/** Invitation routes for the organization, for the invited person, and for the holder of an emailed link. */
export const invitationRoutes = {
  listInvitations: route({
    method: 'GET',
    path: '/v1/organizations/:id/invitations',
    summary: 'List the open invitations of an organization, expired ones included, newest first',
    description: 'Expired invitations are listed until they are revoked or sent again.',
    tag: 'Invitations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'admin' },
    params: organizationParams,
    response: z.array(invitation),
    errors: ['organization_not_found', 'forbidden'],
    notFound: 'organization_not_found',
  }),
  revokeInvitation: route({
    method: 'DELETE',
    path: '/v1/organizations/:id/invitations/:invitationId',
    summary: 'Revoke an invitation',
    description: 'The link in the email stops working at once.',
    tag: 'Invitations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'admin' },
    params: sentParams,
    response: z.strictObject({ revoked: z.literal(true) }),
    errors: ['organization_not_found', 'invitation_not_found', 'forbidden'],
    notFound: 'organization_not_found',
    paramNotFound: { invitationId: 'invitation_not_found' },
  }),
  resendInvitation: route({
    method: 'POST',
    path: '/v1/organizations/:id/invitations/:invitationId/resend',
    summary: 'Send an invitation again with a fresh link; the old link stops working',
    description: 'The invitation gets a new time to expire.',
    tag: 'Invitations',
    access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'admin' },
    params: sentParams,
    response: invitation,
    errors: ['organization_not_found', 'invitation_not_found', 'seats_exceeded', 'forbidden', 'rate_limited'],
    notFound: 'organization_not_found',
    paramNotFound: { invitationId: 'invitation_not_found' },
  }),
  listOwnInvitations: route({
    method: 'GET',
    path: '/v1/me/invitations',
    summary: "List the invitations to the caller's verified email address",
    description: 'An address that is not verified sees no invitation.',
    tag: 'Invitations',
    access: { credentials: 'caller', scope: 'person' },
    response: z.array(invitationPreview),
    errors: [],
  }),
  acceptOwnInvitation: route({
    method: 'POST',
    path: '/v1/me/invitations/:invitationId/accept',
    summary: 'Accept an invitation to the caller',
    description: 'You become a member with the role in the invitation.',
    tag: 'Invitations',
    access: { credentials: 'caller', scope: 'person', unverified: true },
    params: ownParams,
    response: invitationAccepted,
    errors: ['invitation_not_found', 'seats_exceeded', 'conflict'],
    notFound: 'invitation_not_found',
  }),
  declineOwnInvitation: route({
    method: 'POST',
    path: '/v1/me/invitations/:invitationId/decline',
    summary: 'Decline an invitation to the caller',
    description: 'The invitation ends. The organization can invite you again.',
    tag: 'Invitations',
    access: { credentials: 'caller', scope: 'person', unverified: true },
    params: ownParams,
    response: invitationDeclined,
    errors: ['invitation_not_found'],
    notFound: 'invitation_not_found',
  }),
  readInvitation: route({
    method: 'GET',
    path: '/v1/invitations/:token',
    summary: 'Read the invitation of an emailed link',
    description:
      'The token is the last part of the emailed link. Only the invited address may read the invitation.',
    tag: 'Invitations',
    access: { credentials: 'caller', scope: 'person' },
    params: tokenParams,
    response: invitationPreview,
    errors: ['invitation_not_found'],
    notFound: 'invitation_not_found',
    noStore: true,
  }),
  acceptInvitation: route({
    method: 'POST',
    path: '/v1/invitations/:token/accept',
    summary: 'Accept the invitation of an emailed link',
    description:
      'You become a member with the role in the invitation. Only the invited address may accept it.',
    tag: 'Invitations',
    access: { credentials: 'caller', scope: 'person', unverified: true },
    params: tokenParams,
    response: invitationAccepted,
    errors: ['invitation_not_found', 'seats_exceeded', 'conflict'],
    notFound: 'invitation_not_found',
  }),
  declineInvitation: route({
    method: 'POST',
    path: '/v1/invitations/:token/decline',
    summary: 'Decline the invitation of an emailed link',
    description: 'The invitation ends. Only the invited address may decline it.',
    tag: 'Invitations',
    access: { credentials: 'caller', scope: 'person', unverified: true },
    params: tokenParams,
    response: invitationDeclined,
    errors: ['invitation_not_found'],
    notFound: 'invitation_not_found',
  }),
} as const
