/**
 * Folders and files for an attached disk that no sandbox has had yet. Nothing leads off the disk: each folder is opened
 * in the one above it and no link is followed, although a disk on which nobody has ever run holds none.
 */
import { constants, type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Entry } from '../docks/seams.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants

/** Path of what has this name in an opened folder, wherever that is. */
const within = ({ fd }: FileHandle, name: string): string => `/proc/self/fd/${fd}/${name}`

const unlessCode = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error
}

/** Makes the entries below `rootPath`. A folder that is there stays as it is; a file takes the place of another. */
export async function layEntries(rootPath: string, entries: readonly Entry[]): Promise<void> {
  const opened = new Map<string, Promise<FileHandle>>()
  const openFolder = async (path: string): Promise<FileHandle> => {
    if (path === '/') return open(rootPath, O_RDONLY | O_DIRECTORY)
    const above = await folder(posix.dirname(path))
    return open(within(above, posix.basename(path)), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  }
  const folder = (path: string): Promise<FileHandle> => {
    const handle = opened.get(path) ?? openFolder(path)
    opened.set(path, handle)
    return handle
  }
  const makeFolder = async ({ path, mode, uid, gid }: Entry): Promise<void> => {
    const place = within(await folder(posix.dirname(path)), posix.basename(path))
    const isNew = await mkdir(place, mode).then(() => true, unlessCode('EEXIST'))
    if (isNew) await (await folder(path)).chown(uid, gid)
  }
  const makeFile = async ({ path, mode, uid, gid, contents = Buffer.alloc(0) }: Entry): Promise<void> => {
    const place = within(await folder(posix.dirname(path)), posix.basename(path))
    await unlink(place).catch(unlessCode('ENOENT'))
    const file = await open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode)
    try {
      await file.chown(uid, gid)
      await file.writeFile(contents)
    } finally {
      await file.close()
    }
  }
  try {
    for (const entry of entries) if (!entry.contents) await makeFolder(entry)
    await Promise.all(entries.filter(({ contents }) => contents).map(makeFile))
  } finally {
    for (const handle of await Promise.allSettled(opened.values()))
      if (handle.status === 'fulfilled') await handle.value.close()
  }
}
