import { bodyOf } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Handlers, RawResponse } from '../../routing/handler.ts'
import { type AuditFilter, type AuditScope, exportAudit, listAudit } from './read-audit.ts'

const everything: AuditScope = { organizationId: null }

export function auditRoutes(db: Db): Handlers {
  const lines = (scope: AuditScope, filter: AuditFilter): RawResponse => ({
    body: bodyOf(exportAudit(db, scope, filter)),
    contentType: 'application/x-ndjson',
    headers: { 'content-disposition': 'attachment; filename="audit.jsonl"' },
  })
  return {
    listAudit: ({ caller, query }) => listAudit(db, caller, query),
    exportAudit: async ({ caller, query }) => lines(caller, query),
    listInstanceAudit: ({ query }) => listAudit(db, everything, query),
    exportInstanceAudit: async ({ query }) => lines(everything, query),
  }
}
