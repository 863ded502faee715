import * as z from 'zod'
import * as field from '../fields.ts'
import { operationAnswer } from '../objects/operations.ts'
import { template } from '../objects/templates.ts'
import { route } from '../route.ts'

const templateParams = z.object({ name: z.string() })

export const templateRoutes = {
  createTemplate: route({
    method: 'POST',
    path: '/v1/templates',
    summary: 'Freeze a Dock as a Template; replaces an existing Template with that name',
    description:
      'The Template is `ready` when its capture is complete. New Docks start `from` its name. Programs in a running Dock go on: Docks hold no token for connectors, so none has to be replaced after the save, and the Template holds none.',
    tag: 'Templates',
    access: { credentials: 'caller', scope: { dock: 'body.dockId' }, role: 'admin' },
    status: 202,
    body: z.strictObject({ dockId: z.string(), name: field.templateName }),
    response: template,
    errors: [
      'validation_error',
      'forbidden',
      'dock_not_found',
      'dock_not_running',
      'template_limit_reached',
      'zdr_blocks_templates',
      'conflict',
      'service_unavailable',
    ],
  }),
  listTemplates: route({
    method: 'GET',
    path: '/v1/templates',
    summary: "List the Templates of the caller's organizations, newest first",
    description: 'A Template that is still being saved, or that failed, is listed too.',
    tag: 'Templates',
    access: { credentials: 'caller', scope: 'organizations' },
    response: z.array(template),
    errors: [],
  }),
  readTemplate: route({
    method: 'GET',
    path: '/v1/templates/:name',
    summary: 'Read a ready Template',
    description: 'A Template that is not ready is not found.',
    tag: 'Templates',
    access: { credentials: 'caller', scope: { organization: 'query.organizationId' }, role: 'member' },
    params: templateParams,
    query: field.organizationQuery,
    response: template,
    errors: ['validation_error', 'organization_not_found', 'template_not_found'],
    notFound: 'template_not_found',
  }),
  deleteTemplate: route({
    method: 'DELETE',
    path: '/v1/templates/:name',
    summary: 'Delete a Template',
    description: 'Poll the operation to see when its data is removed.',
    tag: 'Templates',
    access: { credentials: 'caller', scope: { organization: 'query.organizationId' }, role: 'admin' },
    params: templateParams,
    query: field.organizationQuery,
    response: operationAnswer,
    errors: ['validation_error', 'organization_not_found', 'forbidden', 'template_not_found'],
    notFound: 'template_not_found',
  }),
} as const
