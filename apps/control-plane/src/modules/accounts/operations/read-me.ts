import type { Identity } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import type { Caller } from '../caller.ts'

/** Who the caller is, with the ways in which they can sign in. */
export const readMe = async (db: Db, caller: Caller): Promise<Identity> => {
  const logins = await db
    .selectFrom('login_accounts')
    .select('provider_id')
    .distinct()
    .where('user_id', '=', caller.userId)
    .orderBy('provider_id')
    .execute()
  return {
    id: caller.userId,
    email: caller.email,
    emailVerified: caller.emailVerified,
    providers: logins.map((login) => login.provider_id),
    instanceAdmin: caller.instanceAdmin,
  }
}
