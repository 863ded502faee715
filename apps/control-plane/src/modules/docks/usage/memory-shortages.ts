/** Records when Docks ran out of memory. The newest 20 records of each Dock are kept. */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { MemoryShortage } from '../../hosts/index.ts'

const keptMax = 20

/** Saves the record only if the Dock is on this host with this generation, since hosts are not trusted for other Docks. */
export async function saveMemoryShortage(
  { db, clock }: { db: Db; clock: Clock },
  hostId: string,
  { dockId, generation, process, count }: MemoryShortage,
): Promise<void> {
  await sql`with kept as (
      insert into dock_memory_shortages (dock_id, generation, process, count, at)
      select d.id, d.generation, ${process}, ${count}, ${clock.now()} from docks d
      where d.id = ${dockId} and d.host_id = ${hostId} and d.generation = ${generation} returning dock_id)
    delete from dock_memory_shortages s using kept where s.dock_id = kept.dock_id and s.id not in (
      select id from dock_memory_shortages where dock_id = kept.dock_id order by id desc limit ${keptMax - 1})`.execute(
    db,
  )
}
