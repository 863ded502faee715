/** Routes of organizations, their members, invitations and workspaces. */
import {
  acceptInvitation,
  changeMemberRole,
  createOrganization,
  createWorkspace,
  declineInvitation,
  deleteOrganization,
  deleteWorkspace,
  inviteMember,
  linkInvitation,
  listInvitations,
  listMembers,
  listNamedMembers,
  listOrganizations,
  listOwnInvitations,
  listWorkspaces,
  type OrganizationContext,
  readInvitation,
  readInvitationGreeting,
  readOrganization,
  readWorkspace,
  removeMember,
  resendInvitation,
  revokeInvitation,
  updateOrganization,
  updateWorkspace,
} from '../../modules/organizations/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function organizationHandlers(context: OrganizationContext): Handlers {
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
  }
}

export function invitationHandlers(context: OrganizationContext): Handlers {
  return {
    listInvitations: ({ caller }) => listInvitations(context.db, caller),
    revokeInvitation: ({ caller, params }) => revokeInvitation(context.db, caller, params.invitationId),
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
  }
}

export function workspaceHandlers(context: OrganizationContext): Handlers {
  return {
    listWorkspaces: ({ caller }) => listWorkspaces(context.db, caller),
    createWorkspace: ({ caller, body }) => createWorkspace(context, caller, body),
    readWorkspace: ({ caller, params }) => readWorkspace(context.db, caller, params.id),
    updateWorkspace: ({ caller, params, body }) => updateWorkspace(context, caller, params.id, body),
    deleteWorkspace: ({ caller, params }) => deleteWorkspace(context, caller, params.id),
  }
}
