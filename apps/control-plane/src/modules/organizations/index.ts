/** Public interface of the organizations module: tenancy, roles, members, invitations and workspaces. */

export { changeMemberRole } from './change-member-role.ts'
export {
  type CreatedOrganization,
  createOrganization,
  insertOrganizationWithDefaults,
} from './create-organization.ts'
export { createWorkspace } from './create-workspace.ts'
export { deleteOrganization } from './delete-organization.ts'
export { deleteWorkspace } from './delete-workspace.ts'
export { findMembership } from './find-membership.ts'
export { deleteInvitationsTo } from './invitation-store.ts'
export { inviteMember } from './invite-member.ts'
export { listInvitations } from './list-invitations.ts'
export { listMembers, listNamedMembers } from './list-members.ts'
export { listWorkspaces, readWorkspace } from './list-workspaces.ts'
export { promoteNextOwner } from './member-store.ts'
export { createOrganizationsModule, type OrganizationsModule } from './module.ts'
export type { OrganizationContext } from './organization-context.ts'
export type { OrganizationRemoval, OrganizationResource } from './organization-removal.ts'
export { markOrganizationDeleted } from './organization-store.ts'
export { listOrganizations, readOrganization } from './read-organization.ts'
export { removeMember } from './remove-member.ts'
export { linkInvitation, resendInvitation } from './resend-invitation.ts'
export {
  acceptInvitation,
  declineInvitation,
  listOwnInvitations,
  readInvitation,
  readInvitationGreeting,
} from './respond-to-invitation.ts'
export { readRetention, updateRetention } from './retention.ts'
export { revokeInvitation } from './revoke-invitation.ts'
export { updateOrganization } from './update-organization.ts'
export { updateWorkspace } from './update-workspace.ts'
