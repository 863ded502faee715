/**
 * Makes room on a host whose pool is filling: local captures go, the least used first, and only those whose copy is
 * verified and that no operation uses. What remains of them is the copy.
 */
import { newOperationId } from '@dock/foundation'
import { sql } from 'kysely'
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

/** Unnames captures of the host, so that nothing begins to use them, and answers their ids. */
const giveUp = async ({ db }: CopyContext, host: Host): Promise<string[]> =>
  (
    await sql<{ id: string }>`
      update snapshots set host_id = null where id in (
        select s.id from snapshots s
        where s.host_id = ${host.id} and s.status = 'completed' and s.copied_at is not null and s.restoring_to is null
          and not exists (select 1 from operations o where o.status <> 'completed'
            and (o.dock_id = s.dock_id or o.data::text like '%' || s.id::text || '%'))
        order by coalesce(s.used_at, s.created_at) limit ${batch} for update skip locked)
      returning id`.execute(db)
  ).rows.map(({ id }) => id)

/** One round over the hosts that are crowded now; the next heartbeat tells whether more must go. */
export const evictCaptures = async (context: CopyContext): Promise<number> => {
  let evicted = 0
  for (const host of await crowdedHosts(context)) {
    for (const id of await giveUp(context, host)) {
      // One that cannot be removed now is unknown to the host's next inventory, which clears it.
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
