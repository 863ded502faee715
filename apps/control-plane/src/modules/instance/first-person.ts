/**
 * The person the first start makes, so that somebody can get in. The file with the key is written before the
 * transaction commits: a crash leaves either no person, and the next start begins anew, or a person whose file is there.
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

/** Makes the first person where there is nobody yet; answers whether it did. Later starts only renew the address. */
export async function ensureFirstPerson(db: Db, options: FirstPersonOptions): Promise<boolean> {
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
  if (!made) await renewAddress(path, options)
  return made
}

/** Port and default image may have changed since the first start. A file that somebody removed stays away. */
const renewAddress = async (path: string, options: FirstPersonOptions): Promise<void> => {
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

/** Removes `admin.json` when it is this person's: they are erased. */
export async function forgetFirstPerson(controlDir: string, email: string): Promise<void> {
  const path = join(controlDir, 'admin.json')
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (content !== undefined && (JSON.parse(content) as AdminFile).email === email.toLowerCase())
    await rm(path, { force: true })
}
