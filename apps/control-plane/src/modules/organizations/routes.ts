/** Routes of organizations, their policies, members, invitations and workspaces. */
import type { Handlers } from '../../routing/handler.ts'
import { changeMemberRole } from './change-member-role.ts'
import { createOrganization } from './create-organization.ts'
import { createWorkspace } from './create-workspace.ts'
import { deleteOrganization } from './delete-organization.ts'
import { deleteWorkspace } from './delete-workspace.ts'
import { inviteMember } from './invite-member.ts'
import { listInvitations } from './list-invitations.ts'
import { listMembers, listNamedMembers } from './list-members.ts'
import { listWorkspaces, readWorkspace } from './list-workspaces.ts'
import type { OrganizationContext } from './organization-context.ts'
import { listOrganizations, readOrganization } from './read-organization.ts'
import { removeMember } from './remove-member.ts'
import { linkInvitation, resendInvitation } from './resend-invitation.ts'
import {
  acceptInvitation,
  declineInvitation,
  listOwnInvitations,
  readInvitation,
  readInvitationGreeting,
} from './respond-to-invitation.ts'
import { readRetention, updateRetention } from './retention.ts'
import { revokeInvitation } from './revoke-invitation.ts'
import { updateOrganization } from './update-organization.ts'
import { updateWorkspace } from './update-workspace.ts'

export function organizationRoutes(context: OrganizationContext): Handlers {
  return {
    createOrganization: ({ caller, body }) => createOrganization(context, caller, body),
    listOrganizations: ({ caller }) => listOrganizations(context.db, caller),
    readOrganization: ({ caller }) => readOrganization(context.db, caller),
    updateOrganization: ({ caller, body }) => updateOrganization(context, caller, body),
    deleteOrganization: ({ caller }) => deleteOrganization(context, caller),
    listMembers: ({ caller }) => listMembers(context.db, caller),
    listNamedMembers: ({ caller }) => listNamedMembers(context.db, caller),
    inviteMember: ({ caller, body }) => inviteMember(context, caller, body),
    changeMemberRole: ({ caller, params, body }) =>
      changeMemberRole(context, caller, params.userId, body.role),
    leaveOrganization: ({ caller }) => removeMember(context, caller, caller.userId),
    removeMember: ({ caller, params }) => removeMember(context, caller, params.userId),
    listInvitations: ({ caller }) => listInvitations(context.db, caller),
    revokeInvitation: ({ caller, params }) => revokeInvitation(context, caller, params.invitationId),
    resendInvitation: ({ caller, params }) => resendInvitation(context, caller, params.invitationId),
    linkInvitation: ({ caller, params }) => linkInvitation(context, caller, params.invitationId),
    listOwnInvitations: ({ caller }) => listOwnInvitations(context, caller),
    acceptOwnInvitation: ({ caller, params }) =>
      acceptInvitation(context, caller, { id: params.invitationId }),
    declineOwnInvitation: ({ caller, params }) =>
      declineInvitation(context, caller, { id: params.invitationId }),
    readInvitation: ({ caller, params }) => readInvitation(context, caller, { token: params.token }),
    readInvitationGreeting: ({ params }) => readInvitationGreeting(context, params.token),
    acceptInvitation: ({ caller, params }) => acceptInvitation(context, caller, { token: params.token }),
    declineInvitation: ({ caller, params }) => declineInvitation(context, caller, { token: params.token }),
    listWorkspaces: ({ caller }) => listWorkspaces(context.db, caller),
    createWorkspace: ({ caller, body }) => createWorkspace(context, caller, body),
    readWorkspace: ({ caller, params }) => readWorkspace(context.db, caller, params.id),
    updateWorkspace: ({ caller, params, body }) => updateWorkspace(context, caller, params.id, body),
    readRetention: ({ caller }) => readRetention(context.db, caller),
    updateRetention: ({ caller, body }) => updateRetention(context, caller, body),
    deleteWorkspace: ({ caller, params }) => deleteWorkspace(context, caller, params.id),
  }
}
