import type { Tx } from '../../database/database.ts'
import { revokeAllKeyRows } from './api-keys/api-key-store.ts'
import { deleteDecidedDeviceCodes } from './device-codes/device-code-store.ts'
import { deleteAllSshKeyRows } from './ssh-keys/ssh-key-store.ts'

/**
 * Revokes all API keys of a user, including keys issued to Docks, and deletes the user's SSH keys and the sign-ins of
 * machines that the user approved.
 */
export async function dropKeys(tx: Tx, userId: string, now: Date): Promise<void> {
  await revokeAllKeyRows(tx, userId, now)
  await deleteAllSshKeyRows(tx, userId)
  await deleteDecidedDeviceCodes(tx, userId)
}
