/** Removes all copies and objects of a deleted organization. */
import { sql } from 'kysely'
import type { CopyContext } from './copy-context.ts'

/** Returns how many Snapshots must be deleted first. Removes everything and returns 0 if there are none. Idempotent. */
export async function removeCopies(context: CopyContext, organizationId: string): Promise<number> {
  const { db, store } = context
  const left = await sql<{ count: number }>`
    select count(*)::int as count from snapshots where organization_id = ${organizationId}`.execute(db)
  const snapshots = left.rows[0]?.count ?? 0
  if (snapshots > 0) return snapshots
  await sql`delete from copies where organization_id = ${organizationId}`.execute(db)
  await sql`delete from copy_chunks where organization_id = ${organizationId}`.execute(db)
  for await (const { key } of store.list(`${organizationId}/`)) await store.delete(key)
  await sql`delete from copy_keys where organization_id = ${organizationId}`.execute(db)
  return 0
}
