import type { Template } from '@dock/contract'
import type { TemplateRow } from './template-store.ts'

/** Returns a Template as callers see it. */
export function viewTemplate(row: TemplateRow): Template {
  return {
    id: row.id,
    organizationId: row.organizationId,
    name: row.name,
    sourceDockId: row.sourceDockId,
    status: row.status,
    sizeBytes: row.sizeBytes,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  }
}
