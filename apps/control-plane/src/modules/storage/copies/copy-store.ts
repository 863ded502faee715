/** The only SQL for copies and their chunks. */
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { captureKeepers } from '../captures/capture-keepers.ts'
import { recordCopied } from '../captures/copied-captures.ts'

export type DueSnapshot = { id: string; organizationId: string; hostId: string }
export type Copy = { id: string; organizationId: string; snapshotId: string }
export type StoredChunk = { name: string; objectKey: string; sizeBytes: number }

/** The copy must be made again: another process has its lease, it or its Snapshot is gone, or one of its chunks is. */
export class CopyLost extends Error {
  override readonly name = 'CopyLost'
}

/** Returns the oldest completed Snapshot on `hosts` that has no verified copy and that no process is copying. */
export async function findNextDueSnapshot(
  db: Db,
  input: {
    hosts: readonly string[]
    now: Date
    bornBefore: Date
    except: readonly string[]
    exceptOrganizations: readonly string[]
  },
): Promise<DueSnapshot | undefined> {
  return (
    await sql<DueSnapshot>`
      select s.id, s.organization_id as "organizationId", k.host_id as "hostId"
      from snapshots s cross join lateral ${captureKeepers} k
      where s.status = 'completed' and s.copied_at is null and k.host_id = any(${input.hosts}::uuid[])
        and s.created_at <= ${input.bornBefore}
        and s.id <> all(${input.except}::uuid[])
        and s.organization_id <> all(${input.exceptOrganizations}::uuid[])
        and not exists (select 1 from copies c where c.snapshot_id = s.id and c.lease_until > ${input.now})
      order by s.created_at limit 1`.execute(db)
  ).rows[0]
}

/** Returns the creation time of the oldest completed Snapshot without a copy, or null. */
export async function findOldestUncopiedAt(db: Db): Promise<Date | null> {
  return (
    (
      await sql<{ since: Date | null }>`select min(created_at) as since from snapshots
      where status = 'completed' and copied_at is null`.execute(db)
    ).rows[0]?.since ?? null
  )
}

/** Begins a copy and replaces an attempt whose lease has expired, or a damaged copy. Returns null if another process holds the lease. */
export async function beginCopy(
  db: Db,
  snapshot: DueSnapshot,
  lease: { owner: string; until: Date; now: Date },
): Promise<Copy | null> {
  return db.transaction().execute(async (tx) => {
    await sql`delete from copies where snapshot_id = ${snapshot.id}
      and (damaged_at is not null or (verified_at is null and lease_until <= ${lease.now}))`.execute(tx)
    const made = await sql<Copy>`
      insert into copies (id, organization_id, snapshot_id, lease_owner, lease_until, created_at)
      values (${newUuid()}, ${snapshot.organizationId}, ${snapshot.id}, ${lease.owner}, ${lease.until}, ${lease.now})
      on conflict (snapshot_id) do nothing
      returning id, organization_id as "organizationId", snapshot_id as "snapshotId"`.execute(tx)
    return made.rows[0] ?? null
  })
}

/** Renews the lease. Throws {@link CopyLost} if this process no longer holds it. */
export async function renewCopy(db: Db, copy: Copy, lease: { owner: string; until: Date }): Promise<void> {
  const renewed = await sql`update copies set lease_until = ${lease.until}
    where id = ${copy.id} and lease_owner = ${lease.owner} and verified_at is null`.execute(db)
  if (renewed.numAffectedRows !== 1n) throw new CopyLost(copy.id)
}

/** Abandons an attempt. A sweep removes its objects, and a later attempt copies the Snapshot. */
export async function abandonCopy(db: Db, copy: Copy): Promise<void> {
  await sql`delete from copies where id = ${copy.id} and verified_at is null`.execute(db)
}

/** Abandons the attempts of all other owners. The caller must know that none of them is running. */
export async function abandonCopiesOfOtherOwners(db: Db, owner: string): Promise<void> {
  await sql`delete from copies where verified_at is null and lease_owner <> ${owner}`.execute(db)
}

/**
 * Records that the copy uses these chunks, and returns the names of those that are stored already. Updates `used_at` of the
 * stored ones, so that a concurrent sweep does not remove them. Throws {@link CopyLost}.
 */
export async function useChunks(
  db: Db,
  copy: Copy,
  names: readonly string[],
  now: Date,
): Promise<Set<string>> {
  return db.transaction().execute(async (tx) => {
    const own =
      await sql`select 1 from copies where id = ${copy.id} and verified_at is null for key share`.execute(tx)
    if (own.rows.length === 0) throw new CopyLost(copy.id)
    await sql`insert into copy_chunk_uses (copy_id, organization_id, name)
      select ${copy.id}::uuid, ${copy.organizationId}::uuid, n from unnest(${names}::text[]) as u(n)
      on conflict do nothing`.execute(tx)
    const stored = await sql<{ name: string }>`
      update copy_chunks set used_at = ${now}
      where organization_id = ${copy.organizationId} and name = any(${names}::text[]) returning name`.execute(
      tx,
    )
    return new Set(stored.rows.map(({ name }) => name))
  })
}

/** Records a stored chunk. Returns false if another copy recorded it meanwhile, or if this copy is lost. */
export async function recordChunk(db: Db, copy: Copy, chunk: StoredChunk, now: Date): Promise<boolean> {
  const recorded = await sql`
    insert into copy_chunks (organization_id, name, object_key, size_bytes, used_at)
    select organization_id, ${chunk.name}, ${chunk.objectKey}, ${chunk.sizeBytes}::integer, ${now}::timestamptz
    from copies where id = ${copy.id} and verified_at is null for key share
    on conflict do nothing`.execute(db)
  return recorded.numAffectedRows === 1n
}

/**
 * Locks the copy's chunks against removal until the transaction ends. Throws {@link CopyLost} if one has no row: it was
 * found damaged or missing while the copy was made.
 */
const lockChunks = async (tx: Tx, copy: Copy): Promise<void> => {
  const chunks = await sql<{ used: number; locked: number }>`
    with locked as (select 1 from copy_chunk_uses u
      join copy_chunks k on k.organization_id = u.organization_id and k.name = u.name
      where u.copy_id = ${copy.id} for key share of k)
    select (select count(*) from copy_chunk_uses where copy_id = ${copy.id})::int as used,
      (select count(*) from locked)::int as locked`.execute(tx)
  if (chunks.rows[0]!.locked < chunks.rows[0]!.used) throw new CopyLost(copy.id)
}

/** Publishes the copy, so that the Snapshot can be restored on any host. Throws {@link CopyLost}. */
export async function publishCopy(
  db: Db,
  copy: Copy,
  facts: { diskBytes: number; indexParts: number; addedBytes: number; owner: string; now: Date },
): Promise<void> {
  return db.transaction().execute(async (tx) => {
    const published =
      await sql`update copies set disk_bytes = ${facts.diskBytes}, index_parts = ${facts.indexParts},
      added_bytes = ${facts.addedBytes}, verified_at = ${facts.now}
      where id = ${copy.id} and lease_owner = ${facts.owner} and verified_at is null`.execute(tx)
    if (published.numAffectedRows !== 1n) throw new CopyLost(copy.id)
    await lockChunks(tx, copy)
    await recordCopied(tx, copy.snapshotId, facts.now)
  })
}

/** Returns the verified copy of a Snapshot, or null. */
export async function findVerifiedCopy(db: Db, snapshotId: string): Promise<Copy | null> {
  return (
    (
      await sql<Copy>`select id, organization_id as "organizationId", snapshot_id as "snapshotId" from copies
      where snapshot_id = ${snapshotId} and verified_at is not null`.execute(db)
    ).rows[0] ?? null
  )
}

export type IndexedCopy = Copy & { indexParts: number }

/** Returns the verified copy of a Snapshot with the number of parts of its file index, or null. */
export async function findIndexedCopy(db: Db, snapshotId: string): Promise<IndexedCopy | null> {
  return (
    (
      await sql<IndexedCopy>`select id, organization_id as "organizationId", snapshot_id as "snapshotId",
      index_parts as "indexParts" from copies
      where snapshot_id = ${snapshotId} and verified_at is not null`.execute(db)
    ).rows[0] ?? null
  )
}

/** Returns the object keys of a copy's chunks, by chunk name. */
export async function listChunkObjects(db: Db, copy: Copy): Promise<Map<string, string>> {
  return new Map(
    (
      await sql<{ name: string; objectKey: string }>`
        select c.name, c.object_key as "objectKey" from copy_chunk_uses u
        join copy_chunks c on c.organization_id = u.organization_id and c.name = u.name
        where u.copy_id = ${copy.id}`.execute(db)
    ).rows.map(({ name, objectKey }) => [name, objectKey]),
  )
}
