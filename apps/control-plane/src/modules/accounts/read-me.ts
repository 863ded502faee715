/** GET /v1/me. */
import type { Identity } from '@dock/contract'
import { sql } from 'kysely'
import { batchLookups } from '../../database/batch-lookups.ts'
import type { Db } from '../../database/database.ts'
import type { Caller } from './caller.ts'

/** Returns a handler that returns the caller's identity and the names of their login providers. */
export function createReadMe(db: Db): (caller: Caller) => Promise<Identity> {
  const findProviders = batchLookups(async (userIds) => {
    const { rows } = await sql<{ userId: string; providers: string[] }>`
      select user_id as "userId", array_agg(distinct provider_id order by provider_id) as providers
      from login_accounts where user_id = any(${userIds}::uuid[]) group by user_id`.execute(db)
    return new Map(rows.map((row) => [row.userId, row.providers]))
  })
  return async (caller) => ({
    id: caller.userId,
    email: caller.email,
    emailVerified: caller.emailVerified,
    providers: (await findProviders(caller.userId)) ?? [],
    instanceAdmin: caller.instanceAdmin,
  })
}
