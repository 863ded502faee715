/**
 * Removes captures from hosts whose pool is nearly full or that keep very many captures. The least recently used captures
 * go first. Only captures that have a verified copy and that no operation uses are removed; the copy remains.
 */
import { newOperationId } from '@dock/foundation'
import { sql } from 'kysely'
import { saveCaptureOrders } from '../../hosts/index.ts'
import { areCopiesChecked } from '../../lineage/index.ts'
import { forgetKeeper } from '../captures/copied-captures.ts'
import type { CopyContext } from './copy-context.ts'

/** Used share of the pool above which captures are evicted. */
const fullShare = 0.8
/** Captures that are evicted per round from a full pool. */
const batch = 5
/** Most captures with a copy that a host may keep, so that its inventory can list them. */
const copiedCapturesMax = 10_000
/** Most captures beyond that maximum that are evicted per round. */
const excessAtOnceMax = 100
/** Most captures that are checked for operations. The least used captures are seldom in use, so this is enough. */
const lookedAtMax = 500

type Context = Pick<CopyContext, 'db' | 'clock' | 'gateway' | 'logger'>
type CrowdedHost = { id: string; tooMany: number }

const crowdedHosts = async ({ db, gateway }: Context): Promise<CrowdedHost[]> =>
  (
    await sql<CrowdedHost>`
      select id, greatest(copied - ${copiedCapturesMax}, case when is_full then ${batch} else 0 end)::int as "tooMany"
      from (select h.id, h.disk_total_bytes > 0
            and h.disk_free_bytes < h.disk_total_bytes * ${1 - fullShare}::float8 as is_full,
          (select count(*) from snapshots s
            where s.host_id = h.id and s.status = 'completed' and s.copied_at is not null)
          + (select count(*) from snapshot_restores r where r.host_id = h.id and r.state = 'kept') as copied
        from hosts h where h.id = any(${gateway.hostsWithControlLink()}::uuid[])) h
      where (is_full or copied > ${copiedCapturesMax}) and ${areCopiesChecked}`.execute(db)
  ).rows

/**
 * Removes the records of captures on the host, so that no operation starts to use them. Orders the host to remove the
 * captures and returns their ids.
 */
const giveUp = async ({ db, clock }: Context, host: CrowdedHost): Promise<string[]> => {
  const [named, other] = forgetKeeper(host.id, sql`chosen`)
  return (
    await sql<{ id: string }>`
      with kept as (
        select id from snapshots where host_id = ${host.id}
        union select snapshot_id from snapshot_restores where host_id = ${host.id} and state = 'kept'),
      idle as (
        select s.id from kept k join snapshots s on s.id = k.id
        where s.status = 'completed' and s.copied_at is not null
        order by coalesce(s.used_at, s.created_at) limit ${lookedAtMax}),
      chosen as (
        select s.id from idle i join snapshots s on s.id = i.id
        where s.status = 'completed' and s.copied_at is not null
          and not exists (select 1 from snapshot_restores r where r.snapshot_id = s.id and r.state = 'restoring')
          and not exists (select 1 from operations o where o.status <> 'completed'
            and (o.dock_id = s.dock_id or o.data::text like '%' || s.id::text || '%'))
        order by coalesce(s.used_at, s.created_at) limit ${Math.min(host.tooMany, excessAtOnceMax)}
        for update of s skip locked),
      unnamed as (${named}), forgotten as (${other}),
      ordered as (${saveCaptureOrders(sql`(select id, ${host.id}::uuid as host_id from chosen)`, clock.now())})
      select id from chosen`.execute(db)
  ).rows.map(({ id }) => id)
}

/** Runs one round over the crowded hosts and returns how many captures were evicted. A timer repeats it. */
export async function evictCaptures(context: Context): Promise<number> {
  const { gateway, logger } = context
  let evicted = 0
  for (const host of await crowdedHosts(context)) {
    const captures = await giveUp(context, host)
    evicted += captures.length
    try {
      for (const captureId of captures)
        await gateway.destroyCapture({ hostId: host.id, captureId }, { operationId: newOperationId() })
    } catch (error) {
      // Do not try further captures on this host: a host that hangs would delay the others.
      logger.warn(
        { hostId: host.id, err: error },
        'cannot evict captures now; retrying after the next inventory',
      )
    }
  }
  return evicted
}
