/**
 * Removes copies and chunks that are no longer used. The row is deleted before its object. A crash in between leaves an
 * object without a row, which the sweep of stray objects finds, but never a row without its object.
 */
import { sql } from 'kysely'
import { withTransaction } from '../../../database/database.ts'
import { type CopyContext, copyPrefix } from './copy-context.ts'

const batch = 500

/** Removes copies whose Snapshot or image version is gone: first the rows, then manifest and index. */
const sweepManifests = async ({ db, store }: CopyContext): Promise<number> => {
  const gone = await sql<{ id: string; organizationId: string }>`
    delete from copies where id in (
      select c.id from copies c where not exists (select 1 from snapshots s where s.id = c.snapshot_id)
        and not exists (select 1 from image_versions v where v.id = c.snapshot_id)
      limit ${batch})
    returning id, organization_id as "organizationId"`.execute(db)
  for (const { id, organizationId } of gone.rows) {
    for await (const { key } of store.list(copyPrefix(organizationId, id))) await store.delete(key)
  }
  return gone.rows.length
}

/** Unused chunks to remove: those unused for the grace time, or all those of organizations with zero data retention. */
type Scope = 'aged' | 'zero-retention'

const isUnused = sql`not exists (
  select 1 from copy_chunk_uses u where u.organization_id = k.organization_id and u.name = k.name)`

/** A chunk from before a restore may be used by a quarantined copy that the database does not know. */
const isFreeOfUnknownCopies = sql`not exists (select 1 from instance_epoch i
  where k.used_at < i.begun_at and (i.objects_checked < i.epoch or exists (select 1 from quarantine q
    where q.kind = 'objects' and q.state = 'held' and q.organization_id = k.organization_id)))`

/**
 * Removes chunks that no copy uses. The query is repeated once the rows are locked: it then sees a copy that began to use
 * a chunk meanwhile. A copy that needs the chunk later finds it gone and stores it again.
 */
const sweepChunks = async ({ db, store, clock, settings }: CopyContext, scope: Scope): Promise<number> => {
  const before = new Date(clock.now().getTime() - settings.graceMs)
  const due =
    scope === 'aged'
      ? sql`k.used_at < ${before}`
      : sql`k.organization_id in (select id from organizations where retention_enabled)`
  const gone = await withTransaction(db, async (tx) => {
    const held = await sql<{ key: string }>`
      select k.object_key as key from copy_chunks k where ${due} and ${isUnused} and ${isFreeOfUnknownCopies}
      limit ${batch} for update skip locked`.execute(tx)
    const keys = held.rows.map(({ key }) => key)
    return sql<{ key: string }>`
      delete from copy_chunks k where k.object_key = any(${keys}::text[]) and ${isUnused}
      returning k.object_key as key`.execute(tx)
  })
  for (const { key } of gone.rows) await store.delete(key)
  return gone.rows.length
}

const sweep = async (context: CopyContext, scope: Scope): Promise<{ copies: number; chunks: number }> => {
  const swept = { copies: 0, chunks: 0 }
  for (;;) {
    const copies = await sweepManifests(context)
    const chunks = await sweepChunks(context, scope)
    swept.copies += copies
    swept.chunks += chunks
    if (copies < batch && chunks < batch) return swept
  }
}

/** Removes unused copies, and chunks unused for the grace time. Returns how many of each were removed. */
export function sweepCopies(context: CopyContext) {
  return sweep(context, 'aged')
}

/** Removes unused copies, and at once all unused chunks of organizations with zero data retention. */
export function sweepZeroRetention(context: CopyContext) {
  return sweep(context, 'zero-retention')
}
