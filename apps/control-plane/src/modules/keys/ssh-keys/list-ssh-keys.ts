import type { SshKey } from '@dock/contract'
import type { Caller } from '../../accounts/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { listSshKeyRows } from './ssh-key-store.ts'
import { sshKeyView } from './ssh-key-view.ts'

/** Returns the caller's SSH keys, newest first. */
export async function listSshKeys({ db, clock }: KeysContext, caller: Caller): Promise<SshKey[]> {
  return (await listSshKeyRows(db, caller.userId, clock.now())).map(sshKeyView)
}
