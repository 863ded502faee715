/** Public interface of the organizations module: tenancy, roles, members, invitations and workspaces. */

export { createOrganizationsModule, type OrganizationsModule } from './create-organizations-module.ts'
export { findMembership } from './find-membership.ts'
export { deleteInvitationsTo } from './invitation-store.ts'
export { promoteNextOwner } from './member-store.ts'
export type { OrganizationContext } from './organization-context.ts'
export type { OrganizationRemoval, OrganizationResource } from './organization-removal.ts'
export { markOrganizationDeleted } from './organization-store.ts'
export { changeMemberRole } from './routes/change-member-role.ts'
export {
  type CreatedOrganization,
  createOrganization,
  insertOrganizationWithDefaults,
} from './routes/create-organization.ts'
export { createWorkspace } from './routes/create-workspace.ts'
export { deleteOrganization } from './routes/delete-organization.ts'
export { deleteWorkspace } from './routes/delete-workspace.ts'
export { inviteMember } from './routes/invite-member.ts'
export { listInvitations } from './routes/list-invitations.ts'
export { listMembers, listNamedMembers } from './routes/list-members.ts'
export { listWorkspaces, readWorkspace } from './routes/list-workspaces.ts'
export { listOrganizations, readOrganization } from './routes/read-organization.ts'
export { removeMember } from './routes/remove-member.ts'
export { linkInvitation, resendInvitation } from './routes/resend-invitation.ts'
export {
  acceptInvitation,
  declineInvitation,
  listOwnInvitations,
  readInvitation,
  readInvitationGreeting,
} from './routes/respond-to-invitation.ts'
export { readRetention, updateRetention } from './routes/retention.ts'
export { revokeInvitation } from './routes/revoke-invitation.ts'
export { updateOrganization } from './routes/update-organization.ts'
export { updateWorkspace } from './routes/update-workspace.ts'
