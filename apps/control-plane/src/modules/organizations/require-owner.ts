/** What concerns owners is for owners alone. */
import { type Role, ServiceError } from '@dock/contract'
import type { Tx } from '../../database/database.ts'
import type { Member } from '../accounts/index.ts'
import { findMemberRow } from './member-store.ts'

/**
 * Throws `forbidden` when one of the roles is `owner` and the caller is none now. Asked with the organization locked:
 * the role that let the caller in may be gone since.
 */
export async function requireOwnerFor(tx: Tx, caller: Member, roles: readonly Role[]): Promise<void> {
  if (!roles.includes('owner')) return
  const own = await findMemberRow(tx, caller.organizationId, caller.userId)
  if (own?.role !== 'owner')
    throw new ServiceError('forbidden', { message: 'Only an owner may change what concerns owners.' })
}
