import { newUuid } from '@dock/foundation'
import type { Tx } from '../../database/database.ts'

/** Hashes a password as better-auth does, which is loaded by the first sign-in. */
export async function hashPassword(password: string): Promise<string> {
  const library = await import('better-auth/crypto')
  return library.hashPassword(password)
}

/**
 * Creates a user with a password and returns the user's id. Writes the same rows that better-auth would write on
 * sign-up, but in the caller's transaction.
 */
export async function createPerson(
  tx: Tx,
  person: { name: string; email: string; password: string; emailVerified: boolean; instanceAdmin: boolean },
): Promise<string> {
  const id = newUuid()
  await tx
    .insertInto('users')
    .values({
      id,
      name: person.name,
      // better-auth looks up addresses in lower case.
      email: person.email.toLowerCase(),
      email_verified: person.emailVerified,
      instance_admin: person.instanceAdmin,
    })
    .execute()
  await tx
    .insertInto('login_accounts')
    .values({
      user_id: id,
      account_id: id,
      provider_id: 'credential',
      password: await hashPassword(person.password),
    })
    .execute()
  return id
}
