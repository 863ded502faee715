/** The file `.dock` names the Dock of a folder and of all folders below. */
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UsageError } from '../program/failures.ts'

const bytesMax = 1024

const openFile = async (path: string): Promise<FileHandle | undefined> => {
  try {
    // A pipe must not block, and a link could lead to a file of somebody else.
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR', 'EISDIR', 'ENXIO'].includes(code)) return undefined
    throw new UsageError(`${path} cannot be read (${code}). Name the Dock, or correct the file.`, 'dock_file')
  }
}

const readFrom = async (path: string): Promise<string | undefined> => {
  const file = await openFile(path)
  if (!file) return undefined
  try {
    const stats = await file.stat()
    // Dock's own data folder has the same name.
    if (!stats.isFile()) return undefined
    const user = process.getuid?.()
    if (user !== undefined && stats.uid !== user && stats.uid !== 0)
      throw new UsageError(
        `${path} belongs to another user, who could lead your commands to another Dock. Name the Dock yourself.`,
        'dock_file_of_another_user',
      )
    if (stats.size > bytesMax)
      throw new UsageError(`${path} is too long: it holds the name of one Dock.`, 'dock_file')
    const name = (await file.readFile('utf8')).trim()
    if (name === '' || name.includes('\n'))
      throw new UsageError(`${path} must hold the name of one Dock.`, 'dock_file')
    return name
  } finally {
    await file.close()
  }
}

/** Returns the Dock that the folder, or the nearest one above it, names. */
export async function readDockFile(folder: string): Promise<string | undefined> {
  for (let at = folder; ; at = dirname(at)) {
    const name = await readFrom(join(at, '.dock'))
    if (name !== undefined || dirname(at) === at) return name
  }
}
