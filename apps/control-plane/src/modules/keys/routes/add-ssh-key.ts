import { limits, ServiceError, type SshKey } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { lockKeyOwner } from '../lock-key-owner.ts'
import { insertSshKey, listSshKeyRows } from '../ssh-key-store.ts'
import { sshKeyView } from '../ssh-key-view.ts'
import { parseSshPublicKey } from '../ssh-public-key.ts'

/**
 * Adds a public key with which the caller can connect to Docks over SSH. Other accounts may have it, too: a public key
 * is no proof. See `prove-ssh-key.ts`.
 * Throws `validation_error`, `ssh_key_exists` and `ssh_key_limit_reached`.
 */
export async function addSshKey(
  context: KeysContext,
  caller: Caller,
  body: { name: string; publicKey: string },
): Promise<SshKey> {
  const { userId } = caller
  const key = parseSshPublicKey(body.publicKey)
  await context.rateLimits.take('sshKeyAdditions', userId)
  return withTransaction(context.db, async (tx) => {
    await lockKeyOwner(tx, userId)
    const present = await listSshKeyRows(tx, userId)
    const isPresent = present.some(({ fingerprint }) => fingerprint === key.fingerprint)
    if (!isPresent && present.length >= limits.sshKeysPerUserMax)
      throw new ServiceError('ssh_key_limit_reached')
    const added = await insertSshKey(tx, { userId, name: body.name, key, now: context.clock.now() })
    if (!added) throw new ServiceError('ssh_key_exists')
    return sshKeyView(added)
  })
}
