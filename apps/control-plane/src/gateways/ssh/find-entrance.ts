/** Decides which person and which Dock a public key and a user name lead to. */
import type { Caller } from '../../modules/accounts/index.ts'
import { findNamedDocks, type NamedDock } from '../../modules/docks/index.ts'
import type { SshKeyHolder } from '../../modules/keys/index.ts'
import type { SshContext } from './ssh-context.ts'

export type Entrance = {
  caller: Caller
  holder: SshKeyHolder
  /** What the client gave as user name. */
  userName: string
} & (
  | { dock: NamedDock; namesakes?: undefined }
  /** Several Docks have this name. The person is admitted to be told their full names. */
  | { dock?: undefined; namesakes: string[] }
)

/**
 * Returns null if nobody has added the key, or its person may run commands in no Dock of this name. So the client
 * tries its next key, and strangers cannot tell the two cases apart.
 */
export async function findEntrance(
  { keys, docks }: Pick<SshContext, 'keys' | 'docks'>,
  userName: string,
  fingerprint: string,
): Promise<Entrance | null> {
  const holder = await keys.find(fingerprint)
  if (!holder) return null
  const { caller } = holder
  const found = await findNamedDocks(docks.db, caller.userId, userName)
  const [dock, other] = found.some(({ fullName }) => fullName === userName)
    ? found.filter(({ fullName }) => fullName === userName)
    : found
  if (!dock) return null
  if (!other) return { caller, holder, userName, dock }
  return { caller, holder, userName, namesakes: found.map(({ fullName }) => fullName) }
}
