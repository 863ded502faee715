/** Chooses the user the server runs as. PostgreSQL refuses to run as root, so root switches to an unprivileged user. */
import { readFile } from 'node:fs/promises'
import type { Identity } from '@dock/foundation'

const defaultUser = 'dock'

/** Returns the identity to switch to, or undefined if the caller is not root. */
export async function identityFor(given: { uid?: number; gid?: number }): Promise<Identity | undefined> {
  if (process.getuid?.() !== 0) return undefined
  if (given.uid !== undefined) return { uid: given.uid, gid: given.gid ?? given.uid }
  for (const line of (await readFile('/etc/passwd', 'utf8')).split('\n')) {
    const [name, , uid, gid] = line.split(':')
    if (name === defaultUser) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(
    `PostgreSQL cannot run as root and there is no user '${defaultUser}'. Create it with: useradd --system --shell /usr/sbin/nologin ${defaultUser}`,
  )
}
