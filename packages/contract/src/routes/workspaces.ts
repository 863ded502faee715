import * as z from 'zod'
import * as field from '../fields.ts'
import { workspace } from '../objects/organizations.ts'
import { route } from '../route.ts'

const organizationParams = z.object({ orgId: field.uuid })
const workspaceParams = z.object({ id: field.uuid })

export const workspaceRoutes = {
  listWorkspaces: route({
    method: 'GET',
    path: '/v1/organizations/:orgId/workspaces',
    summary: 'List the workspaces of an organization',
    description: 'A workspace groups Docks. Each organization has at least one.',
    tag: 'Workspaces',
    access: { credentials: 'caller', scope: { organization: 'params.orgId' }, role: 'member' },
    params: organizationParams,
    response: z.array(workspace),
    errors: ['organization_not_found'],
    notFound: 'organization_not_found',
  }),
  createWorkspace: route({
    method: 'POST',
    path: '/v1/organizations/:orgId/workspaces',
    summary: 'Create a workspace',
    description:
      'The slug is made from the name if you send none. An organization has a limited number of them.',
    tag: 'Workspaces',
    access: { credentials: 'caller', scope: { organization: 'params.orgId' }, role: 'admin' },
    status: 201,
    params: organizationParams,
    body: z.strictObject({ name: field.displayableName, slug: field.slug.optional() }),
    response: workspace,
    errors: ['validation_error', 'organization_not_found', 'slug_taken', 'forbidden', 'conflict'],
    notFound: 'organization_not_found',
  }),
  readWorkspace: route({
    method: 'GET',
    path: '/v1/workspaces/:id',
    summary: 'Read a workspace',
    description: 'Every member of the organization may read it.',
    tag: 'Workspaces',
    access: { credentials: 'caller', scope: { workspace: 'params.id' }, role: 'member' },
    params: workspaceParams,
    response: workspace,
    errors: ['workspace_not_found'],
    notFound: 'workspace_not_found',
  }),
  updateWorkspace: route({
    method: 'PATCH',
    path: '/v1/workspaces/:id',
    summary: 'Change the name or slug of a workspace',
    description: 'Only the fields that you send change.',
    tag: 'Workspaces',
    access: { credentials: 'caller', scope: { workspace: 'params.id' }, role: 'admin' },
    params: workspaceParams,
    body: z.strictObject({ name: field.displayableName.optional(), slug: field.slug.optional() }),
    response: workspace,
    errors: ['validation_error', 'workspace_not_found', 'slug_taken', 'forbidden'],
    notFound: 'workspace_not_found',
  }),
  deleteWorkspace: route({
    method: 'DELETE',
    path: '/v1/workspaces/:id',
    summary: 'Delete a workspace without Docks; the only workspace cannot be deleted',
    description: 'Delete its Docks first. An organization keeps its last workspace.',
    tag: 'Workspaces',
    access: { credentials: 'caller', scope: { workspace: 'params.id' }, role: 'admin' },
    params: workspaceParams,
    response: field.deleted,
    errors: ['validation_error', 'workspace_not_found', 'workspace_not_empty', 'forbidden'],
    notFound: 'workspace_not_found',
  }),
} as const
