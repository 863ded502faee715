/**
 * Ends the machine of a fast Run. One statement releases its room and saves the order for its host, so the machine ends
 * even if the host or this process cannot do it now. A machine that may be a Dock gets no order: without its row, the next
 * inventory quarantines what the host has.
 */
import { sql } from 'kysely'
import { endHostOrder, type OrderForHost, releaseRoom, saveHostOrders } from '../../hosts/index.ts'
import { isGenerationAbsent } from '../core/remove-from-host.ts'
import type { DockContext } from '../dock-context.ts'
import { mayBeDock, type RunMachine } from './machine-store.ts'

/**
 * Resolves when the machine is gone, or its host has the order to remove it or will quarantine it. Repeating it is
 * harmless. `isErased`: its organization is being deleted, so it is destroyed even if it is a Dock.
 */
export async function endMachine(
  { db, clock, gateway, logger }: Pick<DockContext, 'db' | 'clock' | 'gateway' | 'logger'>,
  { id, hostId, generation }: Pick<RunMachine, 'id' | 'hostId' | 'generation'>,
  { isErased = false }: { isErased?: boolean } = {},
): Promise<void> {
  const now = clock.now()
  const order: OrderForHost = { hostId, kind: 'dock', thingId: id, generation }
  const { rows } = await sql<{ isOrdered: boolean }>`
    with held as (select m.id, ${!isErased} and ${mayBeDock} as may_be_dock from run_machines m
      where m.id = ${id} and m.state <> 'ended' for update of m),
    spot as (select h.id from hosts h where h.id = ${hostId} and (select count(*) from held) >= 0 for no key update),
    moved as (update run_machines m set state = 'ended', state_changed_at = ${now}, placed = false, ip = null
      where m.id in (select id from held where not may_be_dock) and m.state <> 'ended'
        and (select count(*) from spot) >= 0 returning m.*),
    forgotten as (delete from run_machines m
      where m.id in (select id from held where may_be_dock) and (select count(*) from spot) >= 0 returning m.*),
    released as (${releaseRoom(sql`(select host_id, cpus, memory_mib, disk_gib from moved
      union all select host_id, cpus, memory_mib, disk_gib from forgotten)`)}),
    ordered as (${saveHostOrders([order], now, sql`select 1 from moved`)})
    select true as "isOrdered" from moved union all select false from forgotten`.execute(db)
  const [ended] = rows
  if (!ended) return
  if (!ended.isOrdered) {
    logger.warn(
      { hostId, machineId: id },
      'the machine of a Run may have become a Dock that the database lost; its host keeps it for the quarantine',
    )
    return
  }
  try {
    await gateway.destroy({ hostId, dockId: id }, { operationId: 'order', generation })
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
