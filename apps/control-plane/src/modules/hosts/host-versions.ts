/** GET /v1/hosts/:id/versions */
import { type HostVersions, type RuntimeRelease, ServiceError } from '@dock/contract'
import type { HostFacts } from '@dock/host-protocol'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import type { WarmPools } from './warm-pools.ts'

type Row = Omit<HostVersions, 'warmDocks' | 'runtimeRelease'> & {
  release: NonNullable<HostFacts['runtimeRelease']> | null
}

/** An older release is shown in red. */
const releaseAgeMsMax = 365 * 24 * 3_600_000

const releaseView = ({ release }: Row, now: Date): RuntimeRelease | null => {
  if (!release) return null
  const { version, source = null, releasedAt = null } = release
  const isOld = releasedAt !== null && now.getTime() - Date.parse(releasedAt) > releaseAgeMsMax
  return { version, source, releasedAt, isOld }
}

/** Returns what the host reported last. Throws `host_not_found`. */
export async function readHostVersions(
  context: { db: Db; warmPools: Pick<WarmPools, 'count'>; clock: { now(): Date } },
  id: string,
): Promise<HostVersions> {
  const found = await sql<Row>`select is_builder as "isBuilder", is_emulated as "isEmulated",
      mem_available_bytes as "memAvailableBytes",
      disk_free_bytes as "diskFreeBytes", images, runtime_release as release
    from hosts where id = ${id}`.execute(context.db)
  const row = found.rows[0]
  if (!row) throw new ServiceError('host_not_found')
  const { release: _, ...versions } = row
  return {
    ...versions,
    warmDocks: context.warmPools.count(id),
    runtimeRelease: releaseView(row, context.clock.now()),
  }
}
