/** Reading captures: their files, and their durable copies. Lists come as lines of JSON, ended by {@link lastLine}. */
import * as z from 'zod'
import { boundedList } from './bounded.ts'

/** Ends a list: one that was cut is never taken for a whole one. */
export const lastLine = z.strictObject({ end: z.literal(true) })

/** Captures in one line of a list of them: far shorter than a line of a list may be. */
export const capturePageMax = 1_000
/** GET /captures: all that the host keeps, one page a line, in no order to rely on. */
export const capturePage = z.strictObject({ captures: boundedList(z.uuid().lowercase(), capturePageMax) })

/**
 * GET /captures/:captureId/tree: one line a regular file. GET …/files?path=&range= answers the raw bytes of one, or
 * those of the range that there are; {@link fileSizeHeader} tells the size of the file.
 */
export const captureFile = z.strictObject({
  path: z.string().max(4096),
  size: z.number().int().min(0),
  inode: z.number().int().min(0),
})
export const fileSizeHeader = 'x-file-size'
export type CaptureFile = z.infer<typeof captureFile>

/**
 * POST /captures/:captureId/chunk-names: the disk's size, then one line for every chunk that holds data, in their order
 * on the disk. `keys` is the secret of the organization's copies; the host keeps it in memory only, while the call lasts.
 */
export const nameChunks = z.strictObject({ keys: z.string() })
export const namedDisk = z.strictObject({ diskBytes: z.number().int().positive() })
export const namedChunk = z.strictObject({
  index: z.number().int().min(0),
  name: z.string().regex(/^[0-9a-f]{64}$/),
})
export type NamedChunk = z.infer<typeof namedChunk>

/** POST /captures/:captureId/chunks: the chunks at these positions, sealed, as frames of the copy format. */
export const sealChunks = z.strictObject({ keys: z.string(), wanted: z.array(z.number().int().min(0)) })

/**
 * POST /captures/:captureId/restore: a line of JSON, then frames of the copy format. Makes the capture of them, every
 * chunk proven; answers `captured`. One that is there already is kept.
 */
export const restoreCapture = z.strictObject({ keys: z.string(), diskBytes: z.number().int().positive() })
export type RestoreCapture = z.infer<typeof restoreCapture>
