/** Only owners may grant or remove the role `owner`. */
import { type Role, ServiceError } from '@dock/contract'
import type { Tx } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { findMemberRow } from './member-store.ts'

/**
 * Throws `forbidden` if one of the roles is `owner` and the caller is not an owner. Reads the caller's role again,
 * because it may have changed since the request was authorized. The caller holds the lock on the organization.
 */
export async function requireOwnerFor(tx: Tx, caller: Member, roles: readonly Role[]): Promise<void> {
  if (!roles.includes('owner')) return
  const own = await findMemberRow(tx, caller.organizationId, caller.userId)
  if (own?.role !== 'owner')
    throw new ServiceError('forbidden', { message: 'Only an owner may invite, change or remove owners.' })
}
