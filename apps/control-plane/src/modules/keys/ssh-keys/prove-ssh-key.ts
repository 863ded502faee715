import { ServiceError, type SshKeyProof } from '@dock/contract'
import { withTransaction } from '../../../database/database.ts'
import type { Caller } from '../../accounts/index.ts'
import { recordAudit } from '../../audit/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { proofNamespace } from './create-ssh-key-challenge.ts'
import { findSshKeyRow, markSshKeyProved } from './ssh-key-store.ts'
import { sshKeyProofView } from './ssh-key-view.ts'
import { parseSshPublicKey } from './ssh-public-key.ts'
import { isSshSignature } from './ssh-signature.ts'

/** `echo` adds the end of a line to the text. */
const lineEnds = ['', '\n', '\r\n']

/**
 * Marks an SSH key as proved, by a signature of its challenge. A login proves nothing: who has added the key of another
 * person waits for exactly that login. Throws `ssh_key_not_found` and `validation_error`.
 */
export async function proveSshKey(
  { db, clock, rateLimits }: KeysContext,
  caller: Caller,
  id: string,
  { signature }: { signature: string },
): Promise<SshKeyProof> {
  const { userId } = caller
  const now = clock.now()
  const row = await findSshKeyRow(db, userId, id, now)
  if (!row) throw new ServiceError('ssh_key_not_found')
  await rateLimits.take('sshKeyProofs', userId)
  const { challenge, challenge_expires_at: expiresAt } = row
  if (challenge === null || expiresAt === null || expiresAt <= now) throw noChallenge()
  const key = parseSshPublicKey(row.public_key)
  const isSigned = lineEnds.some((end) =>
    isSshSignature(signature, { key, namespace: proofNamespace, message: Buffer.from(challenge + end) }),
  )
  if (!isSigned)
    throw new ServiceError('validation_error', {
      message: `signature: is not one of the current challenge by ${row.fingerprint} in the namespace ${proofNamespace}`,
    })
  return withTransaction(db, async (tx) => {
    const proved = await markSshKeyProved(tx, id, challenge, now)
    if (!proved) throw noChallenge()
    const target = { type: 'ssh_key', id, name: proved.name }
    const details = { fingerprint: proved.fingerprint }
    await recordAudit(tx, caller, { action: 'ssh_key.proved', now, organizationId: 'own', target, details })
    return sshKeyProofView(proved)
  })
}

const noChallenge = (): ServiceError =>
  new ServiceError('validation_error', {
    message: 'signature: the challenge was used or has expired; ask for a new one and sign that',
  })
