/**
 * Row types of SSH keys, provider keys, the hosted assistant and sign-ins of machines. `006_keys.sql`, `058_ssh.sql` and
 * `060_device_codes.sql` explain the columns, `093_proved_ssh_keys.sql` those of
 * proofs, and `094_ssh_keys_that_expire.sql` the end of a key.
 */
import type { KeyProvider } from '@dock/contract'
import type { ColumnType } from 'kysely'

export type SshHostKeyType = 'ssh-ed25519' | 'ecdsa-sha2-nistp256'

export type KeyTables = {
  ssh_keys: {
    id: string
    user_id: string
    name: string
    public_key: string
    fingerprint: string
    last_used_at: Date | null
    created_at: Date
    proved_at: ColumnType<Date | null, Date | null | undefined>
    challenge: ColumnType<string | null, string | null | undefined>
    challenge_expires_at: ColumnType<Date | null, Date | null | undefined>
    expires_at: ColumnType<Date | null, Date | null | undefined>
  }
  ssh_host_keys: {
    id: string
    instance_id: string
    type: SshHostKeyType
    public_key: string
    sealed_private_key: string
    created_at: Date
  }
  provider_keys: {
    id: string
    organization_id: string
    provider: KeyProvider
    sealed_key: string
    updated_at: Date
  }
  assistant_connections: {
    id: string
    user_id: string
    sealed_tokens: string
    email: string | null
    plan_type: string | null
    expires_at: Date | null
    updated_at: Date
  }
  device_codes: {
    id: string
    device_code_hash: Buffer
    user_code_hash: Buffer
    machine_name: string
    client_address: string
    interval_seconds: number
    next_poll_at: Date
    user_id: string | null
    decision: 'approved' | 'denied' | null
    created_at: Date
    expires_at: Date
  }
  device_sign_ins: {
    id: string
    user_id: string
    sealed_device_code: string
    interval_seconds: number
    next_poll_at: Date
    expires_at: Date
  }
}
