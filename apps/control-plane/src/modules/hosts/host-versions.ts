/** GET /api/dashboard/hosts/:id/versions */
import { type HostVersions, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import type { WarmPools } from './warm-pools.ts'

type Row = Omit<HostVersions, 'warmDocks'>

/** Returns what the host reported last. Throws `host_not_found`. */
export async function readHostVersions(
  { db, warmPools }: { db: Db; warmPools: Pick<WarmPools, 'count'> },
  id: string,
): Promise<HostVersions> {
  const found = await sql<Row>`select is_builder as "isBuilder", mem_available_bytes as "memAvailableBytes",
      disk_free_bytes as "diskFreeBytes", images from hosts where id = ${id}`.execute(db)
  const row = found.rows[0]
  if (!row) throw new ServiceError('host_not_found')
  return { ...row, warmDocks: warmPools.count(id) }
}
