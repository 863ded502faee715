/**
 * Writes folders and files to an attached disk that no sandbox has used yet. Each folder is opened relative to its parent
 * and links are not followed, so nothing can lead out of the disk, even if a disk unexpectedly contains links.
 */
import { constants, type FileHandle, mkdir, open, unlink } from 'node:fs/promises'
import { posix } from 'node:path'
import type { Entry } from './pool.ts'

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants

/** Returns the path of a name inside an open folder. */
const pathInside = ({ fd }: FileHandle, name: string): string => `/proc/self/fd/${fd}/${name}`

const unlessCode = (code: string) => (error: NodeJS.ErrnoException) => {
  if (error.code !== code) throw error
}

/** Creates the entries below `rootPath`. An existing folder is kept; an existing file is replaced. */
export async function writeEntries(rootPath: string, entries: readonly Entry[]): Promise<void> {
  const opened = new Map<string, Promise<FileHandle>>()
  const openFolder = async (path: string): Promise<FileHandle> => {
    if (path === '/') return open(rootPath, O_RDONLY | O_DIRECTORY)
    const above = await folder(posix.dirname(path))
    return open(pathInside(above, posix.basename(path)), O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  }
  const folder = (path: string): Promise<FileHandle> => {
    const handle = opened.get(path) ?? openFolder(path)
    opened.set(path, handle)
    return handle
  }
  const makeFolder = async ({ path, mode, uid, gid }: Entry): Promise<void> => {
    const place = pathInside(await folder(posix.dirname(path)), posix.basename(path))
    const isNew = await mkdir(place, mode).then(() => true, unlessCode('EEXIST'))
    if (isNew) await (await folder(path)).chown(uid, gid)
  }
  const makeFile = async ({ path, mode, uid, gid, contents = Buffer.alloc(0) }: Entry): Promise<void> => {
    const place = pathInside(await folder(posix.dirname(path)), posix.basename(path))
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
