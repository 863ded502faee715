import type { Organization, OrganizationWithoutRole, Role, Workspace } from '@dock/contract'
import type { Row } from '../../database/database.ts'

/** Returns the API view of an organization, without the caller's role. */
export function organizationView(row: Row<'organizations'>): OrganizationWithoutRole {
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
export function organizationWithRole(row: Row<'organizations'>, role: Role): Organization {
  return {
    ...organizationView(row),
    role,
  }
}

/** Returns the API view of a workspace. */
export function workspaceView(row: Row<'workspaces'>): Workspace {
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    slug: row.slug,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  }
}
