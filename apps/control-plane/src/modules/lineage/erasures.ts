/** The only SQL for `erasures`: ids of erased people and deleted organizations. Hosts and the object store keep copies. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

export type Erased = { kind: 'person' | 'organization'; id: string }

/** Records an erasure in the transaction that does it. */
export async function recordErasure(tx: Tx, { kind, id }: Erased, now: Date): Promise<void> {
  await sql`insert into erasures (kind, id, erased_at) values (${kind}, ${id}, ${now})
    on conflict do nothing`.execute(tx)
}

/** Returns up to `limit` erasures after the first `offset`, oldest first. */
export async function listErasures(
  db: Db,
  { offset, limit }: { offset: number; limit: number },
): Promise<Erased[]> {
  return (
    await sql<Erased>`select kind, id from erasures order by erased_at, id
      offset ${offset} limit ${limit}`.execute(db)
  ).rows
}

/** Returns the number of erasures. */
export async function countErasures(db: Db): Promise<number> {
  return (await sql<{ count: number }>`select count(*)::int as count from erasures`.execute(db)).rows[0]!
    .count
}

/** Returns the remembered erasures that this database does not know. */
export async function findUnknownErasures(db: Db, erased: readonly Erased[]): Promise<Erased[]> {
  return (
    await sql<Erased>`select e.kind, e.id
      from jsonb_to_recordset(${JSON.stringify(erased)}::jsonb) as e(kind text, id text)
      where not exists (select 1 from erasures k where k.kind = e.kind and k.id = e.id)`.execute(db)
  ).rows
}

/** Records erasures that a host or the object store remembers. Known ones do not change. */
export async function recordErasures(db: Db, erased: readonly Erased[], now: Date): Promise<void> {
  await sql`insert into erasures (kind, id, erased_at)
      select e.kind, e.id, ${now}::timestamptz
      from jsonb_to_recordset(${JSON.stringify(erased)}::jsonb) as e(kind text, id text)
      on conflict do nothing`.execute(db)
}
