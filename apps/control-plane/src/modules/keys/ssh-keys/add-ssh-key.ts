import { limits, ServiceError, type SshKey } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { recordAudit } from '../../audit/index.ts'
import { expiryOfCaller } from '../expiry-of-caller.ts'
import type { KeysContext } from '../keys-context.ts'
import { lockKeyOwner } from '../lock-key-owner.ts'
import { deleteExpiredSshKeys, insertSshKey, listSshKeyRows } from './ssh-key-store.ts'
import { sshKeyView } from './ssh-key-view.ts'
import { parseSshPublicKey } from './ssh-public-key.ts'

/**
 * Adds a public key with which the caller can connect to Docks over SSH. Other accounts may have it, too: a public key
 * is no proof. See `prove-ssh-key.ts`. It ends no later than the API key with which the caller asks.
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
    const now = context.clock.now()
    const expiresAt = await expiryOfCaller(tx, caller, now)
    await deleteExpiredSshKeys(tx, now)
    const present = await listSshKeyRows(tx, userId, now)
    const isPresent = present.some(({ fingerprint }) => fingerprint === key.fingerprint)
    if (!isPresent && present.length >= limits.sshKeysPerUserMax)
      throw new ServiceError('ssh_key_limit_reached')
    const added = await insertSshKey(tx, { userId, name: body.name, key, now, expiresAt })
    if (!added) throw new ServiceError('ssh_key_exists')
    await recordAudit(tx, caller, {
      action: 'ssh_key.added',
      now,
      organizationId: 'own',
      target: { type: 'ssh_key', id: added.id, name: added.name },
      details: { fingerprint: added.fingerprint, expiresAt: expiresAt?.toISOString() ?? null },
    })
    return sshKeyView(added)
  })
}
