/**
 * Lets root manage the folders of an unprivileged user. Root must not follow a path that the user can write. Root
 * therefore creates and removes entries in such a folder as the user: a planted symlink then gives no extra access.
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

/** Throws, saying what to do, if the path exists but is not a folder of the user. */
export async function requireOwnFolder(path: string, identity: Identity): Promise<void> {
  const found = await find(path)
  if (!found) return
  if (!found.isDirectory())
    throw new Error(
      `${path} is ${found.isSymbolicLink() ? 'a symlink' : 'not a folder'}, and Dock did not create it. Find out who did, then remove it.`,
    )
  if (found.uid !== identity.uid)
    throw new Error(
      `${path} belongs to user ${found.uid} instead of ${identity.uid}. If you copied Dock's data here, run: chown -R ${identity.uid}:${identity.gid} ${path}`,
    )
}

/** Runs a program that works in `folder`: as `identity` if that user owns the folder, otherwise as the caller. */
export async function runInFolderOf(
  identity: Identity | undefined,
  folder: string,
  command: readonly [string, ...string[]],
): Promise<void> {
  const { uid, mode } = await lstat(folder)
  if ((mode & worldWritable) !== 0 && (mode & sticky) === 0)
    throw new Error(`${folder} is world-writable. Run: chmod o-w ${folder}`)
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

/** Creates a folder with mode 0700 for the user (default: the caller). An existing folder must belong to the user. */
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
 * Reads a file of the user (default: any owner). Returns undefined if there is none. Throws if the path is a symlink or
 * not a regular file, if another user owns it, or if it is larger than 1 MiB.
 */
export async function readOwnFile(path: string, identity: Identity | undefined): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  const file = await open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    if (error.code === 'ELOOP')
      throw new Error(`${path} is a symlink, and Dock did not create it. Remove it.`)
    throw error
  })
  if (!file) return undefined
  try {
    const found = await file.stat()
    if (!found.isFile() || (identity && found.uid !== identity.uid))
      throw new Error(
        `${path} is not a file of user ${identity?.uid}. Find out who put it there, then remove it.`,
      )
    if (found.size > fileBytesMax) throw new Error(`${path} is too large: Dock did not write it. Remove it.`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
