/** DELETE /v1/docks/:id/ports/:port. */
import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Visitor } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { requireDock, requireSecretsAccess } from '../docks/index.ts'
import { type PortContext, targetOf } from './port-context.ts'
import { removePortRow } from './port-store.ts'

/** Removes the port's URL permanently. If the port is exposed again, it gets a new URL. Throws `port_not_found`. */
export async function unexposePort(
  context: PortContext,
  caller: Visitor,
  id: string,
  port: number,
): Promise<{ deleted: true }> {
  const dock = await requireDock(context, caller, id)
  requireSecretsAccess(dock)
  await withTransaction(context.db, async (tx) => {
    if (!(await removePortRow(tx, dock, port))) throw new ServiceError('port_not_found')
    const now = context.clock.now()
    await recordAudit(tx, caller, { action: 'port.closed', now, ...targetOf(dock), details: { port } })
  })
  return { deleted: true }
}
