/** What a host itself knows of a disk that it keeps, for a database that does not know it. */
import * as z from 'zod'

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
      hostname: z.string(),
      cpus: z.number().int(),
      memoryMiB: z.number().int(),
      diskGiB: z.number().int(),
      capturedAt: z.iso.datetime(),
    })
    .nullable(),
})
export type CaptureNote = z.infer<typeof captureNote>
export type DockNote = NonNullable<CaptureNote['dock']>
