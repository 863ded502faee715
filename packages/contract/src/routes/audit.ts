/** Extensions, not part of the specification: the audit log. */
import * as z from 'zod'
import { auditKeptDays } from '../audit-actions.ts'
import * as field from '../fields.ts'
import { auditEntry, auditFilter, auditPage } from '../objects/audit.ts'
import { route } from '../route.ts'
import { organizationParams } from './organizations.ts'

const kept = `Entries are kept for ${auditKeptDays} days.`
const query = z.object({ ...field.pageQuery.shape, ...auditFilter })
const lines = {
  response: z.string().meta({ description: 'One entry a line, as JSON, newest first.' }),
  responseKind: 'raw',
  responseTypes: ['application/x-ndjson'],
  lineSchema: auditEntry,
} as const
const ofOrganization = {
  extension: true,
  tag: 'Organizations',
  access: { credentials: 'caller', scope: { organization: 'params.id' }, role: 'owner' },
  params: organizationParams,
  errors: ['validation_error', 'organization_not_found', 'forbidden'],
  notFound: 'organization_not_found',
} as const
const ofInstance = {
  extension: true,
  tag: 'Instance',
  access: { credentials: 'instance-admin' },
  errors: ['validation_error', 'instance_admin_required', 'email_verification_required'],
} as const

export const auditRoutes = {
  listAudit: route({
    ...ofOrganization,
    method: 'GET',
    path: '/v1/organizations/:id/audit',
    summary: 'As an owner, list who did what in the organization, newest first',
    description: `If \`nextCursor\` is not null, send it as \`cursor\` to get the next page. ${kept}`,
    query,
    response: auditPage,
  }),
  exportAudit: route({
    ...ofOrganization,
    ...lines,
    method: 'GET',
    path: '/v1/organizations/:id/audit/export',
    summary: 'As an owner, download the audit log of the organization as JSON lines',
    description: `The stream ends after the oldest entry. ${kept}`,
    query: z.object(auditFilter),
  }),
  listInstanceAudit: route({
    ...ofInstance,
    method: 'GET',
    path: '/v1/audit',
    summary: 'As an instance admin, list who did what on the instance, newest first',
    description: `Holds the entries of all organizations and those of none. ${kept}`,
    query,
    response: auditPage,
  }),
  exportInstanceAudit: route({
    ...ofInstance,
    ...lines,
    method: 'GET',
    path: '/v1/audit/export',
    summary: 'As an instance admin, download the audit log of the instance as JSON lines',
    description: `The stream ends after the oldest entry. ${kept}`,
    query: z.object(auditFilter),
  }),
} as const
