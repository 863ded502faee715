/**
 * Mark and sweep of the object store. A row goes before its object: a crash between the two leaves an object without a
 * row, which the search for strays finds; never a row without its object.
 */
import { sql } from 'kysely'
import { withTransaction } from '../../database/database.ts'
import { type CopyContext, copyPrefix } from './copy-context.ts'

const batch = 500

/** Copies whose Snapshot or image version is gone: rows, then manifest and index. */
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

/** Which chunks that no copy needs can go: those unneeded for the grace time, or all of organizations that keep nothing. */
type Which = 'aged' | 'retained'

const unneeded = sql`not exists (
  select 1 from copy_chunk_uses u where u.organization_id = k.organization_id and u.name = k.name)`

/** A chunk from before a restore may be needed by a copy that the database does not know, and that is kept. */
const neededByNobodyUnknown = sql`not exists (select 1 from instance_epoch i
  where k.used_at < i.begun_at and (i.objects_checked < i.epoch or exists (select 1 from quarantine q
    where q.kind = 'objects' and q.state = 'held' and q.organization_id = k.organization_id)))`

/**
 * Removes chunks that no copy needs. Asked twice, the second time with the rows held: a copy that said meanwhile that it
 * needs one is then seen, and one that says so later finds it gone and stores it anew.
 */
const sweepChunks = async ({ db, store, clock, settings }: CopyContext, which: Which): Promise<number> => {
  const before = new Date(clock.now().getTime() - settings.graceMs)
  const due =
    which === 'aged'
      ? sql`k.used_at < ${before}`
      : sql`k.organization_id in (select id from organizations where retention_enabled)`
  const gone = await withTransaction(db, async (tx) => {
    const held = await sql<{ key: string }>`
      select k.object_key as key from copy_chunks k where ${due} and ${unneeded} and ${neededByNobodyUnknown}
      limit ${batch} for update skip locked`.execute(tx)
    const keys = held.rows.map(({ key }) => key)
    return sql<{ key: string }>`
      delete from copy_chunks k where k.object_key = any(${keys}::text[]) and ${unneeded}
      returning k.object_key as key`.execute(tx)
  })
  for (const { key } of gone.rows) await store.delete(key)
  return gone.rows.length
}

const sweep = async (context: CopyContext, which: Which): Promise<{ copies: number; chunks: number }> => {
  const swept = { copies: 0, chunks: 0 }
  for (;;) {
    const copies = await sweepManifests(context)
    const chunks = await sweepChunks(context, which)
    swept.copies += copies
    swept.chunks += chunks
    if (copies < batch && chunks < batch) return swept
  }
}

/** Removes what nothing needs any more. Answers how many copies and chunks went. */
export function sweepCopies(context: CopyContext) {
  return sweep(context, 'aged')
}

/** The same at once, for organizations that keep no data at rest. */
export function sweepRetained(context: CopyContext) {
  return sweep(context, 'retained')
}
