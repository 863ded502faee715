/** The SQL of restore drills: which copy is next, and what became of it. */
import { type RawBuilder, sql } from 'kysely'
import { type Db, withTransaction } from '../../database/database.ts'
import { anyCaptureKeeper, captureKeepers, hostIdWithout, saveCaptureOrders } from '../hosts/index.ts'
import type { Copy } from './copy-store.ts'

export type DrilledCopy = Copy & {
  /** Those that keep the capture. */
  hostIds: readonly string[]
}

/** The verified copy that was proven the longest ago, and before this time. */
export async function nextDrill(db: Db, before: Date): Promise<DrilledCopy | null> {
  return (
    (
      await sql<DrilledCopy>`
      select c.id, c.organization_id as "organizationId", c.snapshot_id as "snapshotId",
        array(select distinct k.host_id from ${captureKeepers} k) as "hostIds"
      from copies c join snapshots s on s.id = c.snapshot_id
      where c.verified_at is not null and coalesce(c.drilled_at, c.verified_at) <= ${before}
      order by coalesce(c.drilled_at, c.verified_at) limit 1`.execute(db)
    ).rows[0] ?? null
  )
}

export async function recordWhole(db: Db, copy: Copy, now: Date): Promise<void> {
  await sql`update copies set drilled_at = ${now}, damaged_at = null where id = ${copy.id}`.execute(db)
}

/** What is wrong of a copy: objects of chunks, by key, or its own manifest or index. */
export type Damage = { chunkKeys: readonly string[]; chunkNames: readonly string[] }

/** Verified copies `c` that are made of damaged chunks, this one among them. */
const damagedCopies = (copy: Copy, { chunkNames }: Damage): RawBuilder<boolean> => sql`
  c.organization_id = ${copy.organizationId} and c.verified_at is not null
    and (c.id = ${copy.id} or exists (select 1 from copy_chunk_uses u
      where u.copy_id = c.id and u.name = any(${chunkNames}::text[])))`

/**
 * Forgets the chunks that are damaged, so that the next copy that needs one stores it anew, and every copy that is made
 * of them: one whose capture a host still keeps is made again, any other is marked. Null when the copy went meanwhile.
 */
export function recordDamage(
  db: Db,
  copy: Copy,
  damage: Damage,
  now: Date,
): Promise<{ madeAgain: number; lost: number } | null> {
  return withTransaction(db, async (tx) => {
    // In the order of those who delete: a Dock, its Snapshots, and the organization's counter, which chunks change, last.
    await sql`select 1 from docks d where d.id in (select s.dock_id from copies c
        join snapshots s on s.id = c.snapshot_id where ${damagedCopies(copy, damage)})
      order by d.id for key share`.execute(tx)
    const standing = await sql`
      select 1 from copies c join snapshots s on s.id = c.snapshot_id
      where c.id = ${copy.id} and c.verified_at is not null for update of c`.execute(tx)
    if (standing.rows.length === 0) return null
    const marked = await sql<{ snapshotId: string }>`
      update copies c set drilled_at = ${now}, damaged_at = coalesce(damaged_at, ${now})
      where ${damagedCopies(copy, damage)} returning c.snapshot_id as "snapshotId"`.execute(tx)
    const ids = marked.rows.map(({ snapshotId }) => snapshotId)
    const again = await sql<{ id: string }>`
      update snapshots s set copied_at = null, host_id = ${anyCaptureKeeper}
      where s.id = any(${ids}::uuid[]) and ${anyCaptureKeeper} is not null returning s.id`.execute(tx)
    const madeAgain = again.rows.map(({ id }) => id)
    await sql`delete from copies where snapshot_id = any(${madeAgain}::uuid[])`.execute(tx)
    await sql`delete from copy_chunks where organization_id = ${copy.organizationId}
      and object_key = any(${damage.chunkKeys}::text[])`.execute(tx)
    return { madeAgain: madeAgain.length, lost: ids.length - madeAgain.length }
  })
}

/**
 * A capture that is not what its proven copy says is no longer recorded, and the host is ordered to remove it, unless the
 * host is being given another.
 */
export async function giveUpCapture(db: Db, copy: Copy, hostId: string, now: Date): Promise<void> {
  await sql`with held as (select s.id from snapshots s
      where s.id = ${copy.snapshotId} and s.copied_at is not null and not exists (select 1 from snapshot_restores r
        where r.snapshot_id = s.id and r.host_id = ${hostId} and r.state = 'restoring') for update),
    unnamed as (update snapshots s set host_id = ${hostIdWithout(hostId)} from held h
      where s.id = h.id and s.host_id = ${hostId} returning s.id),
    forgotten as (delete from snapshot_restores r using held h
      where r.snapshot_id = h.id and r.host_id = ${hostId} and r.state = 'kept' returning h.id)
    ${saveCaptureOrders(sql`(select id, ${hostId}::uuid as host_id from unnamed union select id, ${hostId}::uuid from forgotten)`, now)}`.execute(
    db,
  )
}
