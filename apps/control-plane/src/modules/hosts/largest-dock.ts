/** GET /api/dashboard/largest-dock */
import { type LargestDock, limits, type RuntimeName } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { poolShareMax } from './placement.ts'

const gib = 1024 ** 3
const mib = 1024 ** 2

type Row = { cpus: number | null; memory: string | null; disk: string | null; runtimes: RuntimeName[] }

/**
 * Returns the largest size of each kind that an online host could take, or null if no host is online, and the runtimes of
 * online hosts. A Dock that has the most of every kind may fit on no host.
 */
export async function readLargestDock(
  db: Db,
): Promise<{ largest: LargestDock | null; runtimes: RuntimeName[] }> {
  const { rows } = await sql<Row>`
    select max(vcpu_total)::int as cpus, max(mem_total_bytes)::text as memory, max(disk_total_bytes)::text as disk,
      coalesce(array_agg(distinct runtime), '{}') as runtimes
    from hosts where state = 'online'`.execute(db)
  const { cpus, memory, disk, runtimes } = rows[0]!
  if (cpus === null || memory === null || disk === null) return { largest: null, runtimes }
  const diskGiB = Math.floor(Number(disk) / gib)
  const fitting = (most: number, { min, max }: { min: number; max: number }): number =>
    Math.max(min, Math.min(most, max))
  return {
    runtimes,
    largest: {
      cpus: fitting(cpus, limits.cpus),
      memoryMiB: fitting(Math.floor(Number(memory) / mib), limits.memoryMiB),
      // A disk above the default size may take only a part of the pool; see placement.
      diskGiB: fitting(
        Math.max(Math.min(diskGiB, limits.diskGiB.default), Math.floor(diskGiB * poolShareMax)),
        limits.diskGiB,
      ),
    },
  }
}
