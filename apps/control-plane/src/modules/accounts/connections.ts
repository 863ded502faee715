/** GET /v1/me/connections and DELETE /v1/me/connections/:id: the caller's logins. */
import { type LoginConnection, ServiceError } from '@dock/contract'
import { type Db, type Row, withTransaction } from '../../database/database.ts'
import { recordAudit } from '../audit/index.ts'
import type { Caller } from './caller.ts'
import type { AccountContext } from './profile.ts'

/** better-auth's provider id for sign-in by email and password. */
const primaryProvider = 'credential'

type LoginRow = Pick<Row<'login_accounts'>, 'id' | 'provider_id' | 'account_id' | 'created_at'>

const loginsOf = (db: Db, userId: string): Promise<LoginRow[]> =>
  db
    .selectFrom('login_accounts')
    .select(['id', 'provider_id', 'account_id', 'created_at'])
    .where('user_id', '=', userId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

const view = (row: LoginRow, caller: Caller): LoginConnection => {
  const primary = row.provider_id === primaryProvider
  const identifier = primary ? caller.email : row.account_id
  return {
    id: `${row.provider_id}:${identifier}`,
    provider: row.provider_id,
    identifier,
    primary,
    linkedAt: row.created_at.toISOString(),
  }
}

/** Returns the caller's logins, oldest first. */
export async function listConnections(db: Db, caller: Caller): Promise<{ connections: LoginConnection[] }> {
  const rows = await loginsOf(db, caller.userId)
  return { connections: rows.map((row) => view(row, caller)) }
}

/**
 * Removes a provider from the caller's logins; a password is never removed. Throws `last_login_method` if it is the
 * only login. Locks the user's row, so that two concurrent removals cannot remove both of the last two logins.
 */
export function removeConnection(
  { db, clock }: AccountContext,
  caller: Caller,
  id: string,
): Promise<{ removed: boolean }> {
  return withTransaction(db, async (tx) => {
    await tx.selectFrom('users').select('id').where('id', '=', caller.userId).forUpdate().execute()
    const rows = await loginsOf(tx, caller.userId)
    const found = rows.find((row) => view(row, caller).id === id)
    if (!found) return { removed: false }
    if (rows.length === 1) throw new ServiceError('last_login_method')
    if (found.provider_id === primaryProvider) return { removed: false }
    await tx.deleteFrom('login_accounts').where('id', '=', found.id).execute()
    await recordAudit(tx, caller, {
      action: 'account.connection_removed',
      now: clock.now(),
      organizationId: 'own',
      target: { type: 'provider', id: found.provider_id },
    })
    return { removed: true }
  })
}
