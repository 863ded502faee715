import { randomBytes } from 'node:crypto'
import { limits, ServiceError, type SshKeyChallenge } from '@dock/contract'
import type { Caller } from '../../accounts/index.ts'
import type { KeysContext } from '../keys-context.ts'
import { findSshKeyRow, setSshKeyChallenge } from './ssh-key-store.ts'

/** Signatures in other namespaces, for example those of git commits, prove nothing here, and the other way round. */
export const proofNamespace = 'dock-ssh-key@v1'
const nonceBytes = 32

/**
 * Returns a text that the caller signs to prove an SSH key. It names the instance and the account, so that nobody signs
 * one for somebody else unaware. Throws `ssh_key_not_found`.
 */
export async function createSshKeyChallenge(
  { db, clock, rateLimits, apiUrl }: KeysContext,
  { userId, email }: Caller,
  id: string,
): Promise<SshKeyChallenge> {
  const now = clock.now()
  const row = await findSshKeyRow(db, userId, id, now)
  if (!row) throw new ServiceError('ssh_key_not_found')
  await rateLimits.take('sshKeyProofs', userId)
  const nonce = randomBytes(nonceBytes).toString('base64url')
  const text = `dock-ssh-key v1 instance=${apiUrl} account=${email} key=${row.fingerprint} nonce=${nonce}`
  const expiresAt = new Date(now.getTime() + limits.sshKeyProof.challengeSeconds * 1000)
  await setSshKeyChallenge(db, id, { text, expiresAt })
  return { challenge: text, namespace: proofNamespace, expiresAt: expiresAt.toISOString() }
}
