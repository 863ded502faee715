import type { Tx } from '../../database/database.ts'
import { revokeAllKeyRows } from './api-key-store.ts'
import { deleteAllSshKeyRows } from './ssh-key-store.ts'

/** Revokes a person's API keys and deletes their SSH keys, as their account closes. */
export async function dropKeys(tx: Tx, userId: string, now: Date): Promise<void> {
  await revokeAllKeyRows(tx, userId, now)
  await deleteAllSshKeyRows(tx, userId)
}
