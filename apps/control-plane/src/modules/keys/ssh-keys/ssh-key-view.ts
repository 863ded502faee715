import type { SshKey, SshKeyProof } from '@dock/contract'
import type { SshKeyRow } from './ssh-key-store.ts'

/** Returns the API view of a key. */
export function sshKeyView(row: SshKeyRow): SshKey {
  return {
    id: row.id,
    name: row.name,
    publicKey: row.public_key,
    fingerprint: row.fingerprint,
    lastUsedAt: row.last_used_at?.toISOString() ?? null,
    createdAt: row.created_at.toISOString(),
  }
}

/** Returns the API view of a key's proof and end. */
export function sshKeyProofView(row: SshKeyRow): SshKeyProof {
  return {
    sshKeyId: row.id,
    provedAt: row.proved_at?.toISOString() ?? null,
    expiresAt: row.expires_at?.toISOString() ?? null,
  }
}
