/** PATCH /v1/docks/:id/ports/:port. */
import { type PortSettings, ServiceError } from '@dock/contract'
import type { Visitor } from '../accounts/index.ts'
import { requireDock, requireSecretsAccess } from '../docks/index.ts'
import type { PortContext } from './port-context.ts'
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
  if (!(await updatePortRow(context.db, dock, port, { keepsHost: host === 'public' })))
    throw new ServiceError('port_not_found')
  return { port, host }
}
