/** Public face of organizations: tenancy, roles and workspaces. */
export {
  createOrganization,
  insertWholeOrganization,
  type MadeOrganization,
} from './operations/create-organization.ts'
export { listWorkspaces } from './operations/list-workspaces.ts'
export { listOrganizations, readOrganization } from './operations/read-organization.ts'
export { requireRole, roleReaches } from './require-role.ts'
