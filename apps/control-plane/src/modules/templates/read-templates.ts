/** GET /v1/templates, /v1/templates/:name and /api/dashboard/templates */
import { type ListedTemplate, ServiceError, type Template } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import type { Caller, Member } from '../accounts/index.ts'
import { findReadyTemplate, listTemplateRows, listTemplatesWithSource } from './template-store.ts'
import { viewTemplate } from './template-view.ts'

/** Returns the Templates of all the caller's organizations, in every status, newest first. */
export async function listTemplates(db: Db, caller: Caller): Promise<Template[]> {
  return (await listTemplateRows(db, caller.userId)).map(viewTemplate)
}

/** Like {@link listTemplates}, with who made each and from which Dock. */
export async function searchTemplates(db: Db, caller: Caller): Promise<ListedTemplate[]> {
  return (await listTemplatesWithSource(db, caller.userId)).map((row) => ({
    ...viewTemplate(row),
    createdBy:
      row.createdBy === null || row.creatorName === null
        ? null
        : { id: row.createdBy, name: row.creatorName },
    sourceDockName: row.sourceDockName,
    image: row.image,
    diskGiB: row.diskGiB,
  }))
}

/** Returns one ready Template. Throws `template_not_found`. */
export async function readTemplate(db: Db, member: Member, name: string): Promise<Template> {
  const row = await findReadyTemplate(db, member.organizationId, name)
  if (!row) throw new ServiceError('template_not_found')
  return viewTemplate(row)
}
