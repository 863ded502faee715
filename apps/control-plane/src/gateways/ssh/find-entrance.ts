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
 * Returns null if nobody has added the key, or nobody who has may run commands in a Dock of this name. So the client
 * tries its next key, and strangers cannot tell the two cases apart.
 */
export async function findEntrance(
  { keys, docks }: Pick<SshContext, 'keys' | 'docks'>,
  userName: string,
  fingerprint: string,
): Promise<Entrance | null> {
  const holders = await keys.find(fingerprint)
  const found = await findNamedDocks(
    docks.db,
    holders.map(({ caller }) => caller.userId),
    userName,
  )
  for (const holder of holders) {
    const { caller } = holder
    const own = found.filter(({ userId }) => userId === caller.userId)
    const [dock, other] = own.some(({ fullName }) => fullName === userName)
      ? own.filter(({ fullName }) => fullName === userName)
      : own
    if (!dock) continue
    if (!other) return { caller, holder, userName, dock }
    return { caller, holder, userName, namesakes: own.map(({ fullName }) => fullName) }
  }
  return null
}
