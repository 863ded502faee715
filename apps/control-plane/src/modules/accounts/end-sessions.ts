import type { Tx } from '../../database/database.ts'

/** Ends every session of a person, the one that asks among them. */
export async function endSessions(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).execute()
}
