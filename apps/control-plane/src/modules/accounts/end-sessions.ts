import type { Tx } from '../../database/database.ts'

/** Deletes all sessions of a user, including the session that made this request. */
export async function endSessions(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom('sessions').where('user_id', '=', userId).execute()
}
