/** Decides which person and which Dock a public key and a user name lead to. */
import { isUuid } from '@dock/foundation'
import type { Caller } from '../../modules/accounts/index.ts'
import { findNamedDocks, type NamedDock } from '../../modules/docks/index.ts'
import type { SshKeyHolder } from '../../modules/keys/index.ts'
import type { SshContext } from './ssh-context.ts'

export type Entrance = {
  caller: Caller
  holder: SshKeyHolder
  /** What the client gave as user name. */
  userName: string
  /** When the audit log last heard that the person entered the Dock by this connection. */
  recordedAt?: Date
} & (
  | { dock: NamedDock; namesakes?: undefined }
  /** Several Docks have this name. The person is admitted to be told their full names. */
  | { dock?: undefined; namesakes: string[] }
)

/** The client is refused. `remark` is a hint for the owner of the private key. It must not reveal anything about Docks. */
export type NoEntrance = { remark: string | null }

/**
 * Finds the person and the Dock for a client that has signed with the key of this fingerprint. Every account can add every
 * public key, so the accounts that have the key may include strangers. Which of them may enter depends on the name:
 *
 * - An id always names the same Dock, so each account with the key may enter.
 * - A full name works in the same way until an account has proved the key; then only accounts that proved it may enter. A
 *   stranger could otherwise take over the name of a renamed organization.
 * - A shorter name works only for the one account that has proved the key. Otherwise a stranger's Dock of the same name
 *   could receive the owner's sessions.
 */
export async function findEntrance(
  { keys, docks }: Pick<SshContext, 'keys' | 'docks'>,
  userName: string,
  fingerprint: string,
): Promise<Entrance | NoEntrance> {
  const holders = await keys.findHolders(fingerprint)
  const enter = (dock: NamedDock): Entrance | NoEntrance => {
    const holder = holders.find(({ caller }) => caller.userId === dock.userId)
    return holder ? { caller: holder.caller, holder, userName, dock } : { remark: null }
  }
  const [first, second] = holders
  if (first?.isProved && !second?.isProved) {
    const found = await findNamedDocks(docks.db, [first.caller.userId], userName)
    const [dock, other] = found
    if (dock && (dock.isUnique || !other)) return enter(dock)
    if (dock)
      return {
        caller: first.caller,
        holder: first,
        userName,
        namesakes: found.map(({ fullName }) => fullName),
      }
  }
  const trusted =
    first?.isProved && !isUuid(userName.toLowerCase()) ? holders.filter(({ isProved }) => isProved) : holders
  const userIds = trusted.map(({ caller }) => caller.userId)
  const [dock, namesake] = await findNamedDocks(docks.db, userIds, userName)
  // With a namesake, the text is also a short name of a Dock that another person reaches with this key.
  if (dock?.isUnique && !namesake) return enter(dock)
  return { remark: remarkOn(holders, fingerprint) }
}

/** Returns why a short name does not work with this key, or null if that is not the reason. */
const remarkOn = ([first, second]: readonly SshKeyHolder[], fingerprint: string): string | null => {
  if (!first) return null
  const forms = 'its id or its full name, NAME.WORKSPACE.ORGANIZATION'
  if (!first.isProved)
    return (
      `dock: Nobody has proved yet that the key ${fingerprint} is theirs, so it opens a Dock only by ${forms}. ` +
      'To use shorter names, run: dock ssh-key prove'
    )
  if (second?.isProved)
    return `dock: Several accounts have proved the key ${fingerprint}, so it opens a Dock only by ${forms}.`
  return second
    ? `dock: One account has proved the key ${fingerprint}. It opens Docks of others that have added it only by id. ` +
        'If another account is yours too, run there: dock ssh-key prove'
    : null
}
