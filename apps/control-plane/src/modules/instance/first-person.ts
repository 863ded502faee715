/**
 * Creates the first user when the instance starts for the first time. `admin.json`, which contains the credentials, is
 * written before the transaction commits. After a crash there is either no user, and the next start tries again, or a
 * user with a file.
 */
import { randomBytes } from 'node:crypto'
import { access, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { toBase62, writeFileDurably } from '@dock/foundation'
import { sql } from 'kysely'
import { type Db, withTransaction } from '../../database/database.ts'
import { advisoryLocks } from '../../database/instance-lock.ts'
import { createPerson } from '../accounts/index.ts'
import { insertApiKey } from '../keys/index.ts'
import { insertOrganizationWithDefaults } from '../organizations/index.ts'

/** Content of `admin.json`. */
export type AdminFile = {
  baseUrl: string
  email: string
  password: string
  apiKey: string
  organizationId: string
  workspaceId: string
  image: string
}

export type FirstPersonOptions = {
  controlDir: string
  baseUrl: string
  image: string
  email: string
  /** Generated when undefined. */
  password: string | undefined
  now: Date
}

/**
 * Creates the first user if there are no users. Returns true if it did. Otherwise only updates the base URL and the
 * image in `admin.json`.
 */
export async function ensureFirstUser(db: Db, options: FirstPersonOptions): Promise<boolean> {
  const path = join(options.controlDir, 'admin.json')
  const made = await withTransaction(db, async (tx) => {
    await sql`select pg_advisory_xact_lock(${advisoryLocks.firstPerson})`.execute(tx)
    if (await tx.selectFrom('users').select('id').limit(1).executeTakeFirst()) return false
    const password = options.password ?? toBase62(randomBytes(16))
    const userId = await createPerson(tx, {
      name: 'Admin',
      email: options.email,
      password,
      emailVerified: true,
      instanceAdmin: true,
    })
    const { organization, workspaceId } = await insertOrganizationWithDefaults(tx, userId, {
      name: 'Default',
    })
    const key = await insertApiKey(tx, {
      userId,
      name: 'first start',
      expiresAt: null,
      now: options.now,
    })
    const content: AdminFile = {
      baseUrl: options.baseUrl,
      email: options.email.toLowerCase(),
      password,
      apiKey: key.raw,
      organizationId: organization.id,
      workspaceId,
      image: options.image,
    }
    await writeFileDurably(path, `${JSON.stringify(content, null, 2)}\n`)
    return true
  })
  if (!made) await updateAdminFile(path, options)
  return made
}

/**
 * Updates the base URL and the default image, which may have changed since the first start. Does not create the file
 * again if an operator has removed it.
 */
const updateAdminFile = async (path: string, options: FirstPersonOptions): Promise<void> => {
  const present = await access(path).then(
    () => true,
    () => false,
  )
  if (!present) return
  const content = JSON.parse(await readFile(path, 'utf8')) as AdminFile
  if (content.baseUrl === options.baseUrl && content.image === options.image) return
  const renewed: AdminFile = { ...content, baseUrl: options.baseUrl, image: options.image }
  await writeFileDurably(path, `${JSON.stringify(renewed, null, 2)}\n`)
}

/** Removes `admin.json` if it belongs to this user. Used when the user is erased. */
export async function removeAdminFile(controlDir: string, email: string): Promise<void> {
  const path = join(controlDir, 'admin.json')
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (content !== undefined && (JSON.parse(content) as AdminFile).email === email.toLowerCase())
    await rm(path, { force: true })
}
