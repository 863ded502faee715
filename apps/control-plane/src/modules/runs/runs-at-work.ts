/** Runs with a turn in progress. A workspace or organization is deleted only after its Runs have reported their end. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'

/** Counts them in an organization, or in one workspace of it. A stop reaches each of them within minutes. */
export async function countRunsAtWork(
  db: Db | Tx,
  { organizationId, workspaceId = null }: { organizationId: string; workspaceId?: string | null },
): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from runs r
    where r.organization_id = ${organizationId} and (${workspaceId}::uuid is null or r.workspace_id = ${workspaceId})
      and exists (select 1 from operations o
        where o.target_type = 'run' and o.target_id = r.id and o.status <> 'completed')`.execute(db)
  return rows[0]!.count
}
