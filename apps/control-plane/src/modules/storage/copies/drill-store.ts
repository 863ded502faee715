/** The SQL of restore drills. */
import { type RawBuilder, sql } from 'kysely'
import { type Db, withTransaction } from '../../../database/database.ts'
import { saveCaptureOrders } from '../../hosts/index.ts'
import { captureKeepers } from '../captures/capture-keepers.ts'
import { forgetKeeper, recordUncopied } from '../captures/copied-captures.ts'
import type { Copy } from './copy-store.ts'

export type DrilledCopy = Copy & {
  /** Hosts that keep the capture. */
  hostIds: readonly string[]
}

/**
 * Returns the verified copy to drill next, or null if none was last drilled before `before`. Organizations take turns: the
 * organization with the oldest last drill comes first, and its copies by their own last drills.
 */
export async function findNextDrill(
  db: Db,
  before: Date,
  except: readonly string[] = [],
): Promise<DrilledCopy | null> {
  return (
    (
      await sql<DrilledCopy>`
      with turns as (select organization_id, max(drilled_at) as drilled_at from copies group by organization_id)
      select c.id, c.organization_id as "organizationId", c.snapshot_id as "snapshotId",
        array(select distinct k.host_id from ${captureKeepers} k) as "hostIds"
      from copies c join snapshots s on s.id = c.snapshot_id
        join turns t on t.organization_id = c.organization_id
      where c.verified_at is not null and coalesce(c.drilled_at, c.verified_at) <= ${before}
        and c.id <> all(${except}::uuid[])
      order by t.drilled_at nulls first, coalesce(c.drilled_at, c.verified_at) limit 1`.execute(db)
    ).rows[0] ?? null
  )
}

/** Records that a drill found the copy undamaged. */
export async function recordWhole(db: Db, copy: Copy, now: Date): Promise<void> {
  await sql`update copies set drilled_at = ${now}, damaged_at = null where id = ${copy.id}`.execute(db)
}

/** The damaged or missing chunks of a copy. Both lists are empty if its manifest or index is damaged. */
export type Damage = { chunkKeys: readonly string[]; chunkNames: readonly string[] }

/** SQL predicate: true for this copy and for every verified copy `c` that uses a damaged chunk. */
const damagedCopies = (copy: Copy, { chunkNames }: Damage): RawBuilder<boolean> => sql`
  c.organization_id = ${copy.organizationId} and c.verified_at is not null
    and (c.id = ${copy.id} or exists (select 1 from copy_chunk_uses u
      where u.copy_id = c.id and u.name = any(${chunkNames}::text[])))`

/**
 * Removes the rows of the damaged chunks, so that the next copy that needs one stores it again. Every copy that uses them
 * is made again if a host keeps its capture, and is marked as damaged otherwise. Returns null if the copy was deleted
 * meanwhile.
 */
export function recordDamage(
  db: Db,
  copy: Copy,
  damage: Damage,
  now: Date,
): Promise<{ madeAgain: number; lost: number } | null> {
  return withTransaction(db, async (tx) => {
    // Wait for copies that use the chunks and are being published, so that they are among the damaged ones below.
    await sql`select 1 from copy_chunks where organization_id = ${copy.organizationId}
      and object_key = any(${damage.chunkKeys}::text[]) order by name for update`.execute(tx)
    // Lock in the order that deletes use, to avoid deadlocks: Dock, Snapshots, and last the organization's counter.
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
    const madeAgain = await recordUncopied(tx, ids)
    await sql`delete from copies where snapshot_id = any(${madeAgain}::uuid[])`.execute(tx)
    await sql`delete from copy_chunks where organization_id = ${copy.organizationId}
      and object_key = any(${damage.chunkKeys}::text[])`.execute(tx)
    return { madeAgain: madeAgain.length, lost: ids.length - madeAgain.length }
  })
}

/**
 * Removes the record of a capture that differs from its verified copy, and orders the host to remove the capture. Does
 * nothing while a restore to the host is in progress.
 */
export async function giveUpCapture(db: Db, copy: Copy, hostId: string, now: Date): Promise<void> {
  const [named, other] = forgetKeeper(hostId, sql`held`)
  await sql`with held as (select s.id from snapshots s
      where s.id = ${copy.snapshotId} and s.copied_at is not null and not exists (select 1 from snapshot_restores r
        where r.snapshot_id = s.id and r.host_id = ${hostId} and r.state = 'restoring') for update),
    unnamed as (${named}), forgotten as (${other})
    ${saveCaptureOrders(sql`(select id, ${hostId}::uuid as host_id from unnamed union select id, ${hostId}::uuid from forgotten)`, now)}`.execute(
    db,
  )
}
