import { ServiceError } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { deleteSshKeyRow } from './ssh-key-store.ts'

/** Deletes one of the caller's SSH keys. Throws `ssh_key_not_found`. */
export async function deleteSshKey(db: Db, caller: Caller, id: string): Promise<{ deleted: true }> {
  if (!(await deleteSshKeyRow(db, caller.userId, id))) throw new ServiceError('ssh_key_not_found')
  return { deleted: true }
}
