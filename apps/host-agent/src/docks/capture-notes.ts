/** Notes beside the captures: whose disk each one is. A control plane whose database was restored knows less than they do. */
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid, writeFileDurably } from '@dock/foundation'
import { captureNote, type DockNote } from '@dock/host-protocol'
import type { DockRecord } from './dock-record.ts'

const dockNote = captureNote.shape.dock

export type CaptureNotes = {
  /** On return the note is on stable storage. */
  write(captureId: string, note: DockNote): Promise<void>
  /** The note, or null where there is none that can be understood. */
  read(captureId: string): Promise<DockNote | null>
  remove(captureId: string): Promise<void>
}

/** What the record says of the machine; null where it never had one. */
export function noteOf(record: DockRecord | null, now: Date): DockNote | null {
  if (!record?.spec) return null
  const { hostname, cpus, memoryMiB, diskGiB, organizationId = null } = record.spec
  const { dockId, generation } = record
  const machine = { hostname, cpus, memoryMiB, diskGiB }
  return { dockId, generation, organizationId, ...machine, capturedAt: now.toISOString() }
}

/** Notes as files `<folder>/<captureId>.json`. */
export function createCaptureNotes(folder: string): CaptureNotes {
  const pathOf = (captureId: string): string => {
    if (!isUuid(captureId)) throw new Error(`not an id: ${captureId}`)
    return join(folder, `${captureId}.json`)
  }
  return {
    write: async (captureId, note) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFileDurably(pathOf(captureId), JSON.stringify(note))
    },
    read: async (captureId) => {
      try {
        return dockNote.parse(JSON.parse(await readFile(pathOf(captureId), 'utf8')))
      } catch {
        return null
      }
    },
    remove: (captureId) => rm(pathOf(captureId), { force: true }),
  }
}
