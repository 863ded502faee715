/**
 * Records of kept processes: one file for each, in a folder for each Dock. They outlive the agent, not the machine, whose
 * reboot ends every process: so they are written without waiting for the disk.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid } from '@dock/foundation'
import { keptEnd, terminalSize } from '@dock/host-protocol'
import { execReference } from '@dock/runtime'
import * as z from 'zod'

export const keptRecord = z.object({
  version: z.literal(1),
  processId: z.uuid().lowercase(),
  generation: z.number().int(),
  bootId: z.string(),
  /** The beginning of the command, for lists. Variables are not kept. */
  command: z.string(),
  pty: terminalSize.nullable(),
  timeoutMs: z.number().int().nullable(),
  startedAt: z.iso.datetime(),
  /** Null while the process is being started. */
  reference: execReference.nullable(),
  /** Null while the process runs. */
  end: keptEnd.nullable(),
})
export type KeptRecord = z.infer<typeof keptRecord>

export type KeptRecords = {
  /** Returns the records of the Dock, oldest first. Removes files that cannot be read. */
  read(dockId: string): Promise<KeptRecord[]>
  write(dockId: string, record: KeptRecord): Promise<void>
  remove(dockId: string, processId: string): Promise<void>
  removeDock(dockId: string): Promise<void>
  /** Returns the Docks that have records. */
  docks(): Promise<string[]>
}

const extension = '.json'

const unlessMissing = async (found: Promise<string[]>): Promise<string[]> =>
  found.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })

export function createKeptRecords(folder: string): KeptRecords {
  const pathOf = (dockId: string, processId: string) => join(folder, dockId, `${processId}${extension}`)
  const readOne = async (path: string): Promise<KeptRecord | null> => {
    try {
      return keptRecord.parse(JSON.parse(await readFile(path, 'utf8')))
    } catch {
      await rm(path, { force: true })
      return null
    }
  }
  /** The latest write of each file that is under way. */
  const writing = new Map<string, Promise<void>>()
  const writeOne = async (dockId: string, path: string, record: KeptRecord): Promise<void> => {
    const write = () => writeFile(`${path}.tmp`, JSON.stringify(record), { mode: 0o600 })
    await write().catch(async () => {
      await mkdir(join(folder, dockId), { recursive: true, mode: 0o700 })
      await write()
    })
    await rename(`${path}.tmp`, path)
  }
  return {
    read: async (dockId) => {
      const names = await unlessMissing(readdir(join(folder, dockId)))
      const records = await Promise.all(names.map((name) => readOne(join(folder, dockId, name))))
      return records
        .filter((record) => record !== null)
        .toSorted((one, other) => one.startedAt.localeCompare(other.startedAt))
    },
    write: (dockId, record) => {
      const path = pathOf(dockId, record.processId)
      // One after the other: writes at the same time would share the temporary file, and could leave the older record.
      const former = writing.get(path) ?? Promise.resolve()
      const current = former.catch(() => undefined).then(() => writeOne(dockId, path, record))
      writing.set(path, current)
      return current.finally(() => {
        if (writing.get(path) === current) writing.delete(path)
      })
    },
    remove: (dockId, processId) => rm(pathOf(dockId, processId), { force: true }),
    removeDock: (dockId) => rm(join(folder, dockId), { recursive: true, force: true }),
    docks: async () => (await unlessMissing(readdir(folder))).filter(isUuid),
  }
}
