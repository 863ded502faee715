import type { Db } from '../../database/database.ts'

/** Returns true if the zero-data-retention policy is on. Docks of the organization then keep no data once they stop. */
export async function retentionEnabled(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('organizations')
    .select('retention_enabled')
    .where('id', '=', organizationId)
    .executeTakeFirst()
  return row?.retention_enabled ?? false
}
