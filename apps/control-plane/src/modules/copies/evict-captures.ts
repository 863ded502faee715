/**
 * Makes room on a host whose pool is filling: local captures go, the least used first, and only those whose copy is
 * verified and that no operation uses. What remains of them is the copy.
 */
import { newOperationId } from '@dock/foundation'
import { sql } from 'kysely'
import { namedWithout, saveCaptureOrders } from '../hosts/index.ts'
import type { CopyContext } from './copy-context.ts'

/** Share of the pool above which captures are given up. */
const fullShare = 0.8
const batch = 5

type Host = { id: string }

const crowdedHosts = async ({ db, gateway }: CopyContext): Promise<Host[]> =>
  (
    await sql<Host>`select id from hosts
      where id = any(${gateway.linked()}::uuid[]) and disk_total_bytes > 0
        and disk_free_bytes < disk_total_bytes * ${1 - fullShare}::float8`.execute(db)
  ).rows

/**
 * Unnames captures of the host, so that nothing begins to use them, orders the host to remove them, and returns their
 * ids.
 */
const giveUp = async ({ db, clock }: CopyContext, host: Host): Promise<string[]> =>
  (
    await sql<{ id: string }>`
      with chosen as (
        select s.id from snapshots s
        where (s.host_id = ${host.id} or exists (select 1 from snapshot_restores r
            where r.snapshot_id = s.id and r.host_id = ${host.id} and r.state = 'kept'))
          and s.status = 'completed' and s.copied_at is not null
          and not exists (select 1 from snapshot_restores r where r.snapshot_id = s.id and r.state = 'restoring')
          and not exists (select 1 from operations o where o.status <> 'completed'
            and (o.dock_id = s.dock_id or o.data::text like '%' || s.id::text || '%'))
        order by coalesce(s.used_at, s.created_at) limit ${batch} for update skip locked),
      unnamed as (update snapshots s set host_id = ${namedWithout(host.id)}
        from chosen c where s.id = c.id and s.host_id = ${host.id}),
      forgotten as (delete from snapshot_restores r using chosen c
        where r.snapshot_id = c.id and r.host_id = ${host.id}),
      ordered as (${saveCaptureOrders(sql`(select id, ${host.id}::uuid as host_id from chosen)`, clock.now())})
      select id from chosen`.execute(db)
  ).rows.map(({ id }) => id)

/** One round over the hosts that are crowded now; the next heartbeat tells whether more must go. */
export const evictCaptures = async (context: CopyContext): Promise<number> => {
  let evicted = 0
  for (const host of await crowdedHosts(context)) {
    for (const id of await giveUp(context, host)) {
      // One that cannot be removed now is removed by order after the host's next inventory.
      await context.gateway
        .destroyCapture(host.id, id, newOperationId())
        .catch((error: unknown) =>
          context.logger.warn({ err: error, captureId: id }, 'eviction is left over'),
        )
      evicted += 1
    }
  }
  return evicted
}
