/**
 * Ends the machine of a fast Run. One statement releases its room and saves the order for its host, so the machine ends
 * even if the host or this process cannot do it now.
 */
import { sql } from 'kysely'
import { endHostOrder, type OrderForHost, releaseRoom, saveHostOrders } from '../../hosts/index.ts'
import { isGenerationAbsent } from '../core/remove-from-host.ts'
import type { DockContext } from '../dock-context.ts'
import type { RunMachine } from './machine-store.ts'

/** Resolves when the machine is gone, or its host has the order to remove it. Repeating it is harmless. */
export async function endMachine(
  { db, clock, gateway, logger }: Pick<DockContext, 'db' | 'clock' | 'gateway' | 'logger'>,
  { id, hostId, generation }: Pick<RunMachine, 'id' | 'hostId' | 'generation'>,
): Promise<void> {
  const now = clock.now()
  const order: OrderForHost = { hostId, kind: 'dock', thingId: id, generation }
  const { rows } = await sql`
    with held as (select id from run_machines where id = ${id} and state <> 'ended' for update),
    spot as (select h.id from hosts h where h.id = ${hostId} and (select count(*) from held) >= 0 for no key update),
    moved as (update run_machines m set state = 'ended', state_changed_at = ${now}, placed = false, ip = null
      where m.id in (select id from held) and m.state <> 'ended' and (select count(*) from spot) >= 0 returning m.*),
    released as (${releaseRoom(sql`(select host_id, cpus, memory_mib, disk_gib from moved)`)}),
    ordered as (${saveHostOrders([order], now, sql`select 1 from moved`)})
    select id from moved`.execute(db)
  if (rows.length === 0) return
  try {
    await gateway.destroy(hostId, id, { operationId: 'order', generation })
  } catch (error) {
    if (!isGenerationAbsent(error)) {
      logger.info(
        { hostId, machineId: id, err: error },
        'the host ends the machine of a Run with its next report',
      )
      return
    }
  }
  await endHostOrder(db, order)
}
