/** Public interface of the organizations module: tenancy, roles, members, invitations and workspaces. */

export { createOrganizationsModule, type OrganizationsModule } from './create-organizations-module.ts'
export { findMembership } from './find-membership.ts'
export { deleteInvitationsTo } from './invitation-store.ts'
export { promoteNextOwner } from './member-store.ts'
export { changeMemberRole } from './operations/change-member-role.ts'
export {
  type CreatedOrganization,
  createOrganization,
  insertOrganizationWithDefaults,
} from './operations/create-organization.ts'
export { createWorkspace } from './operations/create-workspace.ts'
export { deleteOrganization } from './operations/delete-organization.ts'
export { deleteWorkspace } from './operations/delete-workspace.ts'
export { inviteMember } from './operations/invite-member.ts'
export { listInvitations } from './operations/list-invitations.ts'
export { listMembers } from './operations/list-members.ts'
export { listWorkspaces, readWorkspace } from './operations/list-workspaces.ts'
export { listOrganizations, readOrganization } from './operations/read-organization.ts'
export { removeMember } from './operations/remove-member.ts'
export { resendInvitation } from './operations/resend-invitation.ts'
export {
  acceptInvitation,
  declineInvitation,
  listOwnInvitations,
  readInvitation,
} from './operations/respond-to-invitation.ts'
export { readRetention, updateRetention } from './operations/retention.ts'
export { revokeInvitation } from './operations/revoke-invitation.ts'
export { updateOrganization } from './operations/update-organization.ts'
export { updateWorkspace } from './operations/update-workspace.ts'
export type { OrganizationContext } from './organization-context.ts'
export type { OrganizationRemoval, OrganizationResource } from './organization-removal.ts'
export { markOrganizationDeleted } from './organization-store.ts'
