/** Notes that say which Dock each capture belongs to. A control plane that was restored from a backup needs them. */
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isUuid, writeFileDurably } from '@dock/foundation'
import { captureNote, type DockNote } from '@dock/host-protocol'
import type { DockRecord, UnreadableRecord } from './dock-record.ts'

const dockNote = captureNote.shape.dock

export type CaptureNotes = {
  /** On return the note is on stable storage. */
  write(captureId: string, note: DockNote): Promise<void>
  /** Returns the note, or null if there is none or it cannot be parsed. */
  read(captureId: string): Promise<DockNote | null>
  remove(captureId: string): Promise<void>
}

/** What a record says about the Dock; parts of an unreadable record may be missing. */
type Known = Pick<DockRecord | UnreadableRecord, 'dockId' | 'generation' | 'spec'>

/** Returns a note with the machine that the record describes, or null if the record describes none. */
export function createNote(record: Known | null, now: Date): DockNote | null {
  if (!record?.spec || record.generation === null) return null
  const { hostname, cpus, memoryMiB, diskGiB, organizationId = null } = record.spec
  const { dockId, generation } = record
  const machine = { hostname, cpus, memoryMiB, diskGiB }
  return { dockId, generation, organizationId, ...machine, capturedAt: now.toISOString() }
}

/** Stores notes as files `<folder>/<captureId>.json`. */
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
