/** Public interface of the organizations module: tenancy, roles, members, invitations and workspaces. */

export { insertOrganizationWithDefaults } from './create-organization.ts'
export { findMembership } from './find-membership.ts'
export { deleteInvitationsTo } from './invitation-store.ts'
export { promoteNextOwner } from './member-store.ts'
export { createOrganizationsModule } from './module.ts'
export type { OrganizationRemoval, OrganizationResource } from './organization-removal.ts'
export { markOrganizationDeleted } from './organization-store.ts'
export { listOrganizations } from './read-organization.ts'
export { updateRetention } from './retention.ts'
