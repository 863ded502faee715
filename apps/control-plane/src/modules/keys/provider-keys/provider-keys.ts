/** Lists, sets, reveals and deletes the keys that an organization's agents use to call model providers. */
import { type KeyProvider, keyProviders, type ProviderKeyStatus, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { withTransaction } from '../../../database/database.ts'
import type { Member } from '../../accounts/index.ts'
import { type AuditRecord, recordAudit } from '../../audit/index.ts'
import type { KeysContext } from '../keys-context.ts'
import {
  deleteProviderKeyRow,
  findProviderKeyRow,
  listProviderKeyRows,
  providerKeyPlace,
  putProviderKey,
} from './provider-key-store.ts'

const statusOf = (provider: KeyProvider, updatedAt: Date | null): ProviderKeyStatus => ({
  provider,
  configured: updatedAt !== null,
  updatedAt: updatedAt?.toISOString() ?? null,
})

const entryOf = (
  action: Extract<AuditRecord['action'], `provider_key.${string}`>,
  { organizationId }: Member,
  provider: KeyProvider,
  now: Date,
): AuditRecord => ({ action, now, organizationId, target: { type: 'provider', id: provider } })

/** Returns one entry per provider, including providers without a key. */
export async function listProviderKeys(
  { db }: Pick<KeysContext, 'db'>,
  caller: Member,
): Promise<ProviderKeyStatus[]> {
  const rows = await listProviderKeyRows(db, caller.organizationId)
  const updatedAt = new Map(rows.map((row) => [row.provider, row.updated_at]))
  return keyProviders.map((provider) => statusOf(provider, updatedAt.get(provider) ?? null))
}

/** Seals and stores a key. It replaces the provider's previous key. */
export async function setProviderKey(
  { db, clock, sealer }: Pick<KeysContext, 'db' | 'clock' | 'sealer'>,
  caller: Member,
  body: { provider: KeyProvider; key: string },
): Promise<ProviderKeyStatus> {
  const { organizationId } = caller
  const [id, now] = [newUuid(), clock.now()]
  const owner = { kind: 'organization', id: organizationId } as const
  const sealed = await sealer.seal(owner, providerKeyPlace(id), body.key)
  const { provider } = body
  const row = { id, organization_id: organizationId, provider, sealed_key: sealed, updated_at: now }
  await withTransaction(db, async (tx) => {
    await putProviderKey(tx, row)
    await recordAudit(tx, caller, entryOf('provider_key.set', caller, provider, now))
  })
  return statusOf(body.provider, now)
}

/** Returns the key in plain text. Throws `provider_keys_not_found` if none is set. */
export async function revealProviderKey(
  { db, clock, sealer }: Pick<KeysContext, 'db' | 'clock' | 'sealer'>,
  caller: Member,
  provider: KeyProvider,
): Promise<{ provider: KeyProvider; key: string }> {
  const { organizationId } = caller
  const row = await findProviderKeyRow(db, organizationId, provider)
  if (!row) throw new ServiceError('provider_keys_not_found')
  const owner = { kind: 'organization', id: organizationId } as const
  const key = await sealer.open(owner, providerKeyPlace(row.id), row.sealed_key)
  await recordAudit(db, caller, entryOf('provider_key.revealed', caller, provider, clock.now()))
  return { provider, key }
}

/** Deletes a key. Throws `provider_keys_not_found` if none is set. */
export async function deleteProviderKey(
  { db, clock }: Pick<KeysContext, 'db' | 'clock'>,
  caller: Member,
  provider: KeyProvider,
): Promise<ProviderKeyStatus> {
  await withTransaction(db, async (tx) => {
    if (!(await deleteProviderKeyRow(tx, caller.organizationId, provider)))
      throw new ServiceError('provider_keys_not_found')
    await recordAudit(tx, caller, entryOf('provider_key.deleted', caller, provider, clock.now()))
  })
  return statusOf(provider, null)
}

/** Returns all keys of the organization in plain text, for Docks whose Environment passes them on. */
export async function openProviderKeys(
  { db, sealer }: Pick<KeysContext, 'db' | 'sealer'>,
  organizationId: string,
): Promise<{ provider: KeyProvider; key: string }[]> {
  const owner = { kind: 'organization', id: organizationId } as const
  const rows = await listProviderKeyRows(db, organizationId)
  return Promise.all(
    rows.map(async ({ id, provider, sealed_key }) => ({
      provider,
      key: await sealer.open(owner, providerKeyPlace(id), sealed_key),
    })),
  )
}
