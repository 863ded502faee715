/** An object store in a folder, the default on a single machine. After a crash, an object is complete or absent. */
import { randomUUID } from 'node:crypto'
import { mkdir, open, opendir, readFile, rename, rm, stat, statfs } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { faultPoint } from '@dock/foundation'
import { checkedKey, ObjectMissing, type ObjectStore, type StoredObject, StoreFull } from './object-store.ts'

const isMissing = (error: unknown): boolean => (error as { code?: string }).code === 'ENOENT'

const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const isOutOfSpace = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT'].includes((error as { code?: string }).code ?? '')

/** Returns the free bytes of the folder's disk. The folder need not exist yet. */
const freeBytes = async (folder: string): Promise<number> => {
  try {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  } catch (error) {
    if (!isMissing(error) || dirname(folder) === folder) throw error
    return freeBytes(dirname(folder))
  }
}

/** Prefix of files that are being written. Such a name is not a valid key, so the file is never taken for an object. */
const temporaryPrefix = '.new-'
/** Age from which a temporary file counts as abandoned. If its writer is merely slow, its rename fails. */
const abandonedMs = 60_000

const removeAbandoned = async (path: string): Promise<void> => {
  const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
  if (Date.now() - mtimeMs > abandonedMs) await rm(path, { force: true })
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  const entries = await opendir(folder).catch((error: unknown) => {
    if (isMissing(error)) return null
    throw error
  })
  if (!entries) return
  for await (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesBelow(path)
    else if (entry.name.startsWith(temporaryPrefix)) await removeAbandoned(path)
    else yield path
  }
}

/**
 * Creates a store in `root`. The folder is created by the first write, with access for the process's own user only.
 * Writes leave `reserveBytes` of the disk free, because by default PostgreSQL uses the same disk.
 */
export function createFolderStore(root: string, reserveBytes = 0): ObjectStore {
  const requireRoom = async (bytes = 0): Promise<void> => {
    const free = await freeBytes(root)
    if (free - bytes < reserveBytes)
      throw new StoreFull(`${root} has ${free} bytes free; a reserve of ${reserveBytes} bytes must stay free`)
  }

  const pathOf = (key: string): string => join(root, checkedKey(key))

  /** Creates the folder and its parents. Syncs each new entry, so that an acknowledged object survives a power loss. */
  const makeFolder = async (folder: string): Promise<void> => {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    if (made === undefined) return
    for (let each = folder; each.length >= made.length; each = dirname(each)) await syncFolder(dirname(each))
  }

  const modified = async (path: string): Promise<StoredObject | null> => {
    const found = await stat(path).catch((error: unknown) => {
      if (isMissing(error)) return null
      throw error
    })
    return found && { key: relative(root, path), sizeBytes: found.size, modifiedAt: found.mtime }
  }

  const write = async (key: string, bytes: Uint8Array): Promise<void> => {
    const path = pathOf(key)
    const folder = dirname(path)
    await requireRoom(bytes.length)
    await makeFolder(folder)
    const temporary = join(folder, `${temporaryPrefix}${randomUUID()}`)
    try {
      const file = await open(temporary, 'wx', 0o600)
      try {
        faultPoint('store:write')
        await file.writeFile(bytes)
        faultPoint('store:sync')
        await file.sync()
      } finally {
        await file.close()
      }
      faultPoint('store:rename')
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
    faultPoint('store:folder-sync')
    await syncFolder(folder)
  }

  return {
    description: `folder ${root}`,
    requireRoom: () => requireRoom(),
    put: async (key, bytes) => {
      try {
        await write(key, bytes)
      } catch (error) {
        throw isOutOfSpace(error) ? new StoreFull(`the disk of ${root} is full`, { cause: error }) : error
      }
    },
    get: async (key) => {
      try {
        faultPoint('store:read')
        return await readFile(pathOf(key))
      } catch (error) {
        if (isMissing(error)) throw new ObjectMissing(key)
        throw error
      }
    },
    delete: async (key) => {
      faultPoint('store:delete')
      await rm(pathOf(key), { force: true })
    },
    async *list(prefix) {
      // Keys are paths, so only folders that can contain a key with this prefix are walked.
      const folder = prefix.includes('/') ? join(root, dirname(`${prefix}x`)) : root
      for await (const path of filesBelow(folder)) {
        const object = relative(root, path).startsWith(prefix) ? await modified(path) : null
        if (object) yield object
      }
    },
  }
}
