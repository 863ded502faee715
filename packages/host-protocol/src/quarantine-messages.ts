/**
 * What a host knows about its captures and about the instance, independent of the database. It is used when a database
 * restored from a backup does not know a capture.
 */
import * as z from 'zod'
import { boundedList } from './bounded.ts'

/** The Dock that a capture belongs to. `dock` is null if the host has no note of it. */
export const captureNote = z.object({
  /** Bytes that the disk occupies, and its full size; null if they could not be measured. */
  sizeBytes: z.number().int().nullable(),
  diskBytes: z.number().int().nullable(),
  dock: z
    .object({
      dockId: z.uuid().lowercase(),
      generation: z.number().int(),
      /** Null if the start command did not name the organization. */
      organizationId: z.uuid().lowercase().nullable(),
      hostname: z.string().max(253),
      cpus: z.number().int(),
      memoryMiB: z.number().int(),
      diskGiB: z.number().int(),
      capturedAt: z.iso.datetime(),
    })
    .nullable(),
})
export type CaptureNote = z.infer<typeof captureNote>
export type DockNote = NonNullable<CaptureNote['dock']>

/** Generations encode the epoch, and a later epoch would exceed their range. */
const epochMax = 2_000
const erasuresMax = 100_000

/** A point in the instance's history: its epoch, a start within it, and a mark that only grows during that start. */
export const watermark = z.object({
  epoch: z.number().int().min(0).max(epochMax),
  startId: z.uuid().lowercase(),
  mark: z.number().int().min(0),
})
export type Watermark = z.infer<typeof watermark>

/**
 * A person or organization whose data was erased. Only the instance can create `mac`, so a host cannot forge erasures.
 */
export const erasure = z.object({
  kind: z.enum(['person', 'organization']),
  id: z.string().max(64),
  mac: z.string().max(64),
})
export type Erasure = z.infer<typeof erasure>
/** An erasure as kept by the host. Those stored by older versions have no MAC. */
export const keptErasure = erasure.partial({ mac: true })
export type KeptErasure = z.infer<typeof keptErasure>

export const keepInstance = z.object({ watermark, erasures: boundedList(erasure, erasuresMax) })
export type KeepInstance = z.infer<typeof keepInstance>
export const keptInstance = z.object({
  watermark: watermark.nullable(),
  erasures: boundedList(keptErasure, erasuresMax),
})
export type KeptInstance = z.infer<typeof keptInstance>
