/** PATCH /v1/docks/:id/ports/:port. */
import { type PortSettings, ServiceError } from '@dock/contract'
import { withTransaction } from '../../database/database.ts'
import type { Visitor } from '../accounts/index.ts'
import { recordAudit } from '../audit/index.ts'
import { requireDock, requireSecretsAccess } from '../docks/index.ts'
import { type PortContext, targetOf } from './port-context.ts'
import { updatePortRow } from './port-store.ts'

/** Sets which Host the program of an exposed port sees. Throws `port_not_found`. */
export async function changePort(
  context: PortContext,
  caller: Visitor,
  id: string,
  port: number,
  { host }: { host: PortSettings['host'] },
): Promise<PortSettings> {
  const dock = await requireDock(context, caller, id)
  requireSecretsAccess(dock)
  const keepsHost = host === 'public'
  await withTransaction(context.db, async (tx) => {
    const former = await updatePortRow(tx, dock, port, { keepsHost })
    if (!former) throw new ServiceError('port_not_found')
    if (former.keptHost === keepsHost) return
    const details = { port, host, hostBefore: former.keptHost ? 'public' : 'local' }
    await recordAudit(tx, caller, {
      action: 'port.changed',
      now: context.clock.now(),
      ...targetOf(dock),
      details,
    })
  })
  return { port, host }
}
