import type { SshKeyProof } from '@dock/contract'
import type { Caller } from '../../accounts/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { listSshKeyRows } from './ssh-key-store.ts'
import { sshKeyProofView } from './ssh-key-view.ts'

/** Returns which of the caller's SSH keys are proved, newest key first. */
export async function listSshKeyProofs({ db, clock }: KeysContext, caller: Caller): Promise<SshKeyProof[]> {
  return (await listSshKeyRows(db, caller.userId, clock.now())).map(sshKeyProofView)
}
