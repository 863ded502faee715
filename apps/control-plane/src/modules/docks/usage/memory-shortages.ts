/** What a Dock's owner is told of its shortages of memory. The newest few of each Dock are kept. */

import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { MemoryShortage } from '../../hosts/index.ts'

const keptMax = 20

/** Keeps it if the Dock is on that host at that generation: a host is believed of its own Docks only. */
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
