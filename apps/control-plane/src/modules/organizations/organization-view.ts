import type { Organization, OrganizationWithoutRole, Role, Workspace } from '@dock/contract'
import type { Selectable } from 'kysely'
import type { OrganizationsTable, WorkspacesTable } from '../../database/tables/accounts.ts'

/** Returns the API view of an organization, without the caller's role. */
export function organizationView(row: Selectable<OrganizationsTable>): OrganizationWithoutRole {
  return {
    id: row.id,
    name: row.name,
    slug: row.slug,
    seats: row.seats,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}

/** Returns the API view of an organization with the caller's role. */
export function organizationWithRole(row: Selectable<OrganizationsTable>, role: Role): Organization {
  return {
    ...organizationView(row),
    role,
  }
}

/** Returns the API view of a workspace. */
export function workspaceView(row: Selectable<WorkspacesTable>): Workspace {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    slug: row.slug,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
