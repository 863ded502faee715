/** Adds people directly to the tables, because signing each in would cost a password hash. */

import { createHmac, randomBytes } from 'node:crypto'
import type { Role } from '@dock/contract'
import { sessionCookieName } from '@dock/control-plane/accounts'
import { insertApiKey } from '@dock/control-plane/keys'
import { newUuid } from '@dock/foundation'
import { type TestControlPlane, testAuthSecret } from './test-control-plane.ts'

const sessionMs = 3_600_000

export type TestPerson = {
  userId: string
  email: string
  apiKey: string
  /** The `Cookie` header of the person's session. */
  cookie: string
}

type Server = Pick<TestControlPlane, 'database' | 'config' | 'admin'>

const addSession = async ({ database, config }: Server, userId: string): Promise<string> => {
  const token = randomBytes(24).toString('hex')
  const expiresAt = new Date(Date.now() + sessionMs)
  await database.db
    .insertInto('sessions')
    .values({ id: newUuid(), user_id: userId, token, expires_at: expiresAt })
    .execute()
  const signature = createHmac('sha256', testAuthSecret).update(token).digest('base64')
  const name = sessionCookieName(config.apiUrl.startsWith('https:'))
  return `${name}=${encodeURIComponent(`${token}.${signature}`)}`
}

/**
 * Adds a person with a verified address, an API key and a session. With `role`, the person becomes a member of
 * `organizationId`, by default the first person's organization.
 */
export async function addPerson(
  server: Server,
  options: {
    email?: string
    emailVerified?: boolean
    instanceAdmin?: boolean
    role?: Role
    organizationId?: string
  } = {},
): Promise<TestPerson> {
  const { db } = server.database
  const userId = newUuid()
  const email = options.email ?? `${userId}@example.test`
  const { emailVerified = true, instanceAdmin = false } = options
  await db
    .insertInto('users')
    .values({
      id: userId,
      name: 'Somebody',
      email,
      email_verified: emailVerified,
      instance_admin: instanceAdmin,
    })
    .execute()
  const key = await insertApiKey(db, { userId, name: 'test', expiresAt: null, now: new Date() })
  if (options.role) {
    const organizationId = options.organizationId ?? server.admin.organizationId
    await db
      .insertInto('memberships')
      .values({ organization_id: organizationId, user_id: userId, role: options.role })
      .execute()
  }
  return { userId, email, apiKey: key.raw, cookie: await addSession(server, userId) }
}
