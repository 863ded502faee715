/** GET /v1/docks/:id/ports. */
import type { PortEntry } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { requireDock, requireSecretsAccess } from '../docks/index.ts'
import type { PortContext } from './port-context.ts'
import { listPortRows } from './port-store.ts'
import { viewPort } from './port-view.ts'

export async function listPorts(context: PortContext, caller: Visitor, id: string): Promise<PortEntry[]> {
  const dock = await requireDock(context, caller, id)
  requireSecretsAccess(dock)
  const rows = await listPortRows(context.db, dock)
  return rows.map((row) => viewPort(context.domain, row))
}
