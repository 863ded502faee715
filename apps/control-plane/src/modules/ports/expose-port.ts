/** POST /v1/docks/:id/ports. */
import { type PortEntry, ServiceError } from '@dock/contract'
import type { Tx } from '../../database/database.ts'
import type { Visitor } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { requireDock, requireSecretsAccess } from '../docks/index.ts'
import { type PortContext, targetOf } from './port-context.ts'
import { exposePortRow } from './port-store.ts'
import { viewPort } from './port-view.ts'

/**
 * Gives a port of the Dock a public URL, in any state of the Dock. The URL stays the same while the port is exposed.
 * Throws `ports_unavailable` and `port_limit_reached`.
 */
export async function exposePort(
  context: PortContext,
  caller: Visitor,
  id: string,
  port: number,
): Promise<PortEntry> {
  const { db, clock, domain } = context
  const dock = await requireDock(context, caller, id)
  requireSecretsAccess(dock)
  if (!domain) throw new ServiceError('ports_unavailable')
  const now = clock.now()
  const record = (tx: Tx) =>
    recordAudit(tx, caller, { action: 'port.exposed', now, ...targetOf(dock), details: { port } })
  return viewPort(domain, await exposePortRow(db, dock, port, now, record))
}
