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
} & (
  | { dock: NamedDock; namesakes?: undefined }
  /** Several Docks have this name. The person is admitted to be told their full names. */
  | { dock?: undefined; namesakes: string[] }
)

/** Nobody is let in. `remark` is for the owner of the private key, and says nothing about any Dock. */
export type NoEntrance = { remark: string | null }

/**
 * Anybody can add a public key, so the accounts that have it are those of its owner and of strangers. An id leads to one
 * Dock, always the same, and any of these people enters by it. So does a full name, until somebody has proved the key: then only
 * those who did. A stranger may take the name of an organization that was renamed, and the owner of the key may still use
 * it. A shorter name is looked up for the one person who has proved the key: a stranger would otherwise get the owner's
 * sessions by a Dock of the same name. `fingerprint` is that of a key with which the client has signed.
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
        ...{ caller: first.caller, holder: first, userName },
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
