import { ServiceError } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { recordAudit } from '../../audit/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { deleteSshKeyRow } from './ssh-key-store.ts'

/** Deletes one of the caller's SSH keys. Throws `ssh_key_not_found`. */
export function deleteSshKey(
  { db, clock }: Pick<KeysContext, 'db' | 'clock'>,
  caller: Caller,
  id: string,
): Promise<{ deleted: true }> {
  return withTransaction(db, async (tx) => {
    const deleted = await deleteSshKeyRow(tx, caller.userId, id)
    if (!deleted) throw new ServiceError('ssh_key_not_found')
    await recordAudit(tx, caller, {
      action: 'ssh_key.deleted',
      now: clock.now(),
      organizationId: 'own',
      target: { type: 'ssh_key', id, name: deleted.name },
      details: { fingerprint: deleted.fingerprint },
    })
    return { deleted: true }
  })
}
