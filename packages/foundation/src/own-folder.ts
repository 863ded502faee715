/**
 * Folders of an unprivileged user, as root sees to them. Root follows no path that such a user can write: what is made
 * or removed in a folder of the user's is done with the user's own rights, so that a planted symlink leads nowhere new.
 */
import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { runCommand } from './run-command.ts'

export type Identity = { uid: number; gid: number }

const commandTimeoutMs = 60_000
const fileBytesMax = 2 ** 20
const worldWritable = 0o002
const sticky = 0o1000

const find = (path: string): Promise<Stats | undefined> =>
  lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** Throws, with what to do, when something stands at the path that is no folder, or not the user's. */
export async function requireOwnFolder(path: string, identity: Identity): Promise<void> {
  const found = await find(path)
  if (!found) return
  if (!found.isDirectory())
    throw new Error(
      `${path} is ${found.isSymbolicLink() ? 'a symlink' : 'no folder'}, and Dock never made it so. Find out who did, and remove it.`,
    )
  if (found.uid !== identity.uid)
    throw new Error(
      `${path} belongs to user ${found.uid}, not to ${identity.uid} as it should. If Dock's data was copied here: chown -R ${identity.uid}:${identity.gid} ${path}`,
    )
}

/** Runs a program on things in a folder: with the rights of the user whose folder it is, else with the caller's. */
export async function runInFolderOf(
  identity: Identity | undefined,
  folder: string,
  command: readonly [string, ...string[]],
): Promise<void> {
  const { uid, mode } = await lstat(folder)
  if ((mode & worldWritable) !== 0 && (mode & sticky) === 0)
    throw new Error(`Everybody can write in ${folder}: chmod o-w ${folder}`)
  const asUser =
    identity && uid === identity.uid
      ? [
          'setpriv',
          ...['--reuid', String(identity.uid), '--regid', String(identity.gid), '--clear-groups'],
          ...['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all', '--'],
        ]
      : []
  const [program, ...args] = [...asUser, ...command]
  await runCommand(program!, args, {
    cwd: '/',
    timeoutMs: commandTimeoutMs,
    outputBytesMax: fileBytesMax,
  })
}

/** Makes a folder of mode 0700 for the user (the caller, where undefined). One that is there must be the user's. */
export async function makeOwnFolder(path: string, identity: Identity | undefined): Promise<void> {
  if (identity) await requireOwnFolder(path, identity)
  if (await find(path)) return
  const parent = dirname(path)
  if (identity && (await find(parent))?.uid === identity.uid)
    return runInFolderOf(identity, parent, ['mkdir', '--mode=0700', '--', path])
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (!identity) return
  const folder = await open(path, constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    await folder.chown(identity.uid, identity.gid)
  } finally {
    await folder.close()
  }
}

/**
 * Content of a file of the user's (of the caller's, where undefined): undefined where there is none. Throws when a
 * symlink or something else stands there, when it is another's, or when it is over 1 MiB.
 */
export async function readOwnFile(path: string, identity: Identity | undefined): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    if (error.code === 'ELOOP') throw new Error(`${path} is a symlink, and Dock never made it so. Remove it.`)
    throw error
  })
  if (!file) return undefined
  try {
    const found = await file.stat()
    if (!found.isFile() || (identity && found.uid !== identity.uid))
      throw new Error(
        `${path} is no file of user ${identity?.uid}. Find out who put it there, and remove it.`,
      )
    if (found.size > fileBytesMax) throw new Error(`${path} is too large to be what Dock wrote.`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
