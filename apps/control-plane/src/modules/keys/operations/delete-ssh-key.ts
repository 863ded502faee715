import { ServiceError } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { deleteSshKeyRow } from '../ssh-key-store.ts'

/** Deletes a key of the caller's; it lets nobody in from then on. */
export async function deleteSshKey(db: Db, caller: Caller, id: string): Promise<{ deleted: true }> {
  if (!(await deleteSshKeyRow(db, caller.userId, id))) throw new ServiceError('ssh_key_not_found')
  return { deleted: true }
}
