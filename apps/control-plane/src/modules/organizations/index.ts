/** Public face of organizations: tenancy, roles and workspaces. */
export { findMembership, findWorkspaceMembership } from './find-membership.ts'
export {
  createOrganization,
  insertWholeOrganization,
  type MadeOrganization,
} from './operations/create-organization.ts'
export { listWorkspaces } from './operations/list-workspaces.ts'
export { listOrganizations, readOrganization } from './operations/read-organization.ts'
