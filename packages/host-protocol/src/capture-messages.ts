/**
 * Messages about captures: their files and their durable copies. Lists are lines of JSON, ended by {@link lastLine}.
 */
import * as z from 'zod'
import { boundedList } from './bounded.ts'

/** Ends a list, so that the reader detects a truncated one. */
export const lastLine = z.strictObject({ end: z.literal(true) })

/** Captures per line. Such a line is far shorter than the limit for lines. */
export const capturePageMax = 1_000
/** GET /captures: all captures that the host keeps, one page per line, in no particular order. */
export const capturePage = z.strictObject({ captures: boundedList(z.uuid().lowercase(), capturePageMax) })

/**
 * GET /captures/:captureId/tree: one line per regular file. GET …/files?path=&range= returns the raw bytes of a file,
 * or the existing part of the range. {@link fileSizeHeader} carries the size of the whole file.
 */
export const captureFile = z.strictObject({
  path: z.string().max(4096),
  size: z.number().int().min(0),
  inode: z.number().int().min(0),
})
export const fileSizeHeader = 'x-file-size'
export type CaptureFile = z.infer<typeof captureFile>

/**
 * POST /captures/:captureId/chunk-names: returns the disk's size, then one line for every chunk that holds data, in
 * disk order. `keys` is the secret of the organization's copies. The host keeps it only in memory and only during the
 * call.
 */
export const nameChunks = z.strictObject({ keys: z.string() })
export const namedDisk = z.strictObject({ diskBytes: z.number().int().positive() })
export const namedChunk = z.strictObject({
  index: z.number().int().min(0),
  name: z.string().regex(/^[0-9a-f]{64}$/),
})
export type NamedChunk = z.infer<typeof namedChunk>

/** POST /captures/:captureId/chunks: returns the sealed chunks at these positions, as frames of the copy format. */
export const sealChunks = z.strictObject({ keys: z.string(), wanted: z.array(z.number().int().min(0)) })

/**
 * POST /captures/:captureId/restore: a line of JSON, then frames of the copy format. Creates the capture from them,
 * verifies every chunk, and returns `captured`. An existing capture is kept.
 */
export const restoreCapture = z.strictObject({ keys: z.string(), diskBytes: z.number().int().positive() })
export type RestoreCapture = z.infer<typeof restoreCapture>
