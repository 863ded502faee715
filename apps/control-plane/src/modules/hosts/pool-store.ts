/** The only SQL for the warm pools that hosts report, and the fragments that claim one of their Docks. */
import type { PoolReport } from '@dock/host-protocol'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'

const insertPool = (hostId: string, pool: readonly PoolReport[], now: Date): RawBuilder<unknown> => sql`
  insert into pool_docks (id, host_id, name, image, cpus, memory_mib, disk_gib, reported_at)
  select (p->>'dockId')::uuid, ${hostId}::uuid, p->>'hostname', p->>'image', (p->>'cpus')::int,
    (p->>'memoryMiB')::int, (p->>'diskGiB')::int, ${now}::timestamptz
  from jsonb_array_elements(${JSON.stringify(pool)}::jsonb) p on conflict (id) do nothing`

/** A host's whole pool. What is claimed stays so until its host reports without it. */
export const savePool = async (
  db: Db,
  hostId: string,
  pool: readonly PoolReport[],
  now: Date,
): Promise<void> => {
  const ids = pool.map((dock) => dock.dockId)
  await sql`
    with gone as (delete from pool_docks where host_id = ${hostId} and id <> all(${ids}::uuid[]))
    ${insertPool(hostId, pool, now)}`.execute(db)
}

/** One more that can be claimed. */
export const savePoolDock = async (db: Db, hostId: string, dock: PoolReport, now: Date): Promise<void> => {
  await insertPool(hostId, [dock], now).execute(db)
}

/** One that can no longer be claimed. */
export const removePoolDock = async (db: Db, hostId: string, dockId: string): Promise<void> => {
  await sql`delete from pool_docks where id = ${dockId} and host_id = ${hostId}`.execute(db)
}
