import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'

/**
 * Call it before an Environment that members may launch is deleted. Its Docks stay open to members: nobody can make it one
 * for admins only any more, and a deleted Environment would otherwise count as such a one.
 */
export async function forgetOpenEnvironment(
  tx: Tx,
  { id, organizationId }: { id: string; organizationId: string },
): Promise<void> {
  const set = sql`marks = array_remove(marks, ${id}::uuid), env_passes = env_passes and environment_id is distinct from ${id}`
  const known = sql`organization_id = ${organizationId} and (environment_id = ${id} or ${id} = any(marks))`
  await sql`update docks set ${set} where ${known}`.execute(tx)
  await sql`update run_machines set ${set} where ${known}`.execute(tx)
}
