/** Somebody besides the first person, with a key to call as them. */

import type { Role } from '@dock/contract'
import { insertApiKey } from '@dock/control-plane/keys'
import { newUuid } from '@dock/foundation'
import type { TestControlPlane } from './test-control-plane.ts'

export type TestPerson = { userId: string; email: string; apiKey: string }

/** Adds a person with a verified address; with `role`, as a member of the first person's organization or another. */
export const addPerson = async (
  server: Pick<TestControlPlane, 'database' | 'admin'>,
  options: { email?: string; emailVerified?: boolean; role?: Role; organizationId?: string } = {},
): Promise<TestPerson> => {
  const { db } = server.database
  const userId = newUuid()
  const email = options.email ?? `${userId}@example.test`
  await db
    .insertInto('users')
    .values({ id: userId, name: 'Somebody', email, email_verified: options.emailVerified ?? true })
    .execute()
  const key = await insertApiKey(db, { userId, name: 'test', expiresAt: null, now: new Date() })
  if (options.role) {
    const organizationId = options.organizationId ?? server.admin.organizationId
    await db
      .insertInto('memberships')
      .values({ organization_id: organizationId, user_id: userId, role: options.role })
      .execute()
  }
  return { userId, email, apiKey: key.raw }
}
