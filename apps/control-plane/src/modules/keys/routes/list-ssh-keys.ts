import type { SshKey } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { listSshKeyRows } from '../ssh-key-store.ts'
import { sshKeyView } from '../ssh-key-view.ts'

/** Returns the caller's SSH keys, newest first. */
export async function listSshKeys(db: Db, caller: Caller): Promise<SshKey[]> {
  return (await listSshKeyRows(db, caller.userId)).map(sshKeyView)
}
