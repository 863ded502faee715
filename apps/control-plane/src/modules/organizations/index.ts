/** Public face of organizations: tenancy, roles and workspaces. */
export { requireRole, roleReaches } from './require-role.ts'
