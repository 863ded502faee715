import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'

/** Updates the name of the Environment that its Docks store. */
export async function renameEnvironmentOfDocks(tx: Tx, environmentId: string, name: string): Promise<void> {
  await sql`update docks set environment = ${name} where environment_id = ${environmentId}`.execute(tx)
}
