/** What a host itself knows of a disk that it keeps, for a database that does not know it. */
import * as z from 'zod'
import { boundedList } from './bounded.ts'

/** GET /captures/:captureId/note: whose disk the capture is. `dock` is null where the host made no note of it. */
export const captureNote = z.strictObject({
  /** What the disk takes, and its full size; null where they could not be measured. */
  sizeBytes: z.number().int().nullable(),
  diskBytes: z.number().int().nullable(),
  dock: z
    .strictObject({
      dockId: z.uuid().lowercase(),
      generation: z.number().int(),
      /** Null in the note of a host that was never told. */
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

/** Generations carry the epoch: of a later one there would be no number. */
const epochMax = 2_000
const erasuresMax = 100_000

/** The last that was heard of the instance: its epoch, a start of it, and a mark that only grows while that lasts. */
export const watermark = z.strictObject({
  epoch: z.number().int().min(0).max(epochMax),
  startId: z.uuid().lowercase(),
  mark: z.number().int().min(0),
})
export type Watermark = z.infer<typeof watermark>

/** Somebody whose data was erased, by id alone, with the instance's MAC of it, which a host cannot make. */
export const erasure = z.strictObject({
  kind: z.enum(['person', 'organization']),
  id: z.string().max(64),
  mac: z.string().max(64),
})
export type Erasure = z.infer<typeof erasure>
/** What a host was told before there were MACs has none. */
export const keptErasure = erasure.partial({ mac: true })
export type KeptErasure = z.infer<typeof keptErasure>

/**
 * POST /instance: what the host is to remember of the instance; erasures add to those it has. An older epoch than its own
 * is refused (`stale_generation`). GET /instance answers what it remembers.
 */
export const keepInstance = z.strictObject({ watermark, erasures: boundedList(erasure, erasuresMax) })
export type KeepInstance = z.infer<typeof keepInstance>
export const keptInstance = z.strictObject({
  watermark: watermark.nullable(),
  erasures: boundedList(keptErasure, erasuresMax),
})
export type KeptInstance = z.infer<typeof keptInstance>
