/** The secret that signs session cookies. The first start creates it and stores it in a file. */
import { randomBytes } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileDurably } from '@dock/foundation'

/** Reads `keys/auth-secret` in the control folder, or creates it with mode 0600. */
export async function ensureAuthSecret(controlDir: string): Promise<string> {
  const folder = join(controlDir, 'keys')
  const path = join(folder, 'auth-secret')
  const stored = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (stored !== undefined && stored.trim() !== '') return stored.trim()
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const secret = randomBytes(32).toString('base64url')
  await writeFileDurably(path, `${secret}\n`)
  return secret
}
