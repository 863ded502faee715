/** Messages about captures: their files, and their durable copies. Lists are lines of JSON, ended by {@link lastLine}. */
import * as z from 'zod'
import { boundedList } from './bounded.ts'

/** Ends a list, so that the reader detects a truncated one. */
export const lastLine = z.object({ end: z.literal(true) })

/** Captures per line. Such a line is far shorter than the limit for lines. */
export const capturePageMax = 1_000
export const capturePage = z.object({ captures: boundedList(z.uuid().lowercase(), capturePageMax) })
export type CapturePage = z.infer<typeof capturePage>

export const captureFile = z.object({
  path: z.string().max(4096),
  size: z.number().int().min(0),
  inode: z.number().int().min(0),
})
export type CaptureFile = z.infer<typeof captureFile>

/** `range` is a byte range, as {@link parseByteRange} reads it. */
export const fileQuery = z.object({ path: z.string().min(1), range: z.string().optional() })

/** Names and paths are text, in which `%XX` stands for a byte that is not UTF-8. */
const nameLengthMax = 3 * 255
const pathLengthMax = 3 * 4096
const diskEntryType = z.enum(['file', 'folder', 'link', 'pipe', 'socket', 'device'])
const diskMode = z.string().regex(/^[0-7]{4}$/)
const size = z.number().int().min(0)

export const folderPageMax = 1_000
const cursorLengthMax = 10_000

export const folderQuery = z.object({
  path: z.string().min(1).max(4096),
  limit: z.coerce.number().int().min(1).max(folderPageMax),
  cursor: z
    .string()
    .regex(/^([0-9a-f]{2}){1,255}$/)
    .optional(),
})
export const diskEntry = z.object({
  name: z.string().max(nameLengthMax),
  type: diskEntryType,
  mode: diskMode,
  size,
})
export type DiskEntry = z.infer<typeof diskEntry>
export const diskFolder = z.object({
  entries: boundedList(diskEntry, folderPageMax),
  nextCursor: z.string().max(cursorLengthMax).nullable(),
})
export type DiskFolder = z.infer<typeof diskFolder>

export const changesPageMax = 500
const diskSide = z.object({ type: diskEntryType, mode: diskMode, size })
export const diskChange = z.object({
  path: z.string().max(pathLengthMax),
  before: diskSide.nullable(),
  after: diskSide.nullable(),
  differences: boundedList(z.enum(['added', 'removed', 'type', 'contents', 'mode', 'owner']), 3),
})
export type DiskChange = z.infer<typeof diskChange>

export const changesQuery = z.object({
  to: z.uuid().lowercase(),
  cursor: z.string().max(cursorLengthMax).optional(),
})
/** `hasUnlisted`: a folder has names with a line break, or files in very many pieces, which are left out. */
export const diskComparison = z.object({
  changes: boundedList(diskChange, changesPageMax),
  nextCursor: z.string().max(cursorLengthMax).nullable(),
  visited: z.number().int().min(0),
  bytesRead: z.number().int().min(0),
  hasUnlisted: z.boolean(),
})
export type DiskComparison = z.infer<typeof diskComparison>

/** `keys` is the secret of the organization's copies. The host keeps it only in memory and only during the call. */
export const nameChunks = z.object({ keys: z.string() })
export const namedDisk = z.object({ diskBytes: z.number().int().positive() })
export const namedChunk = z.object({
  index: z.number().int().min(0),
  name: z.string().regex(/^[0-9a-f]{64}$/),
})
export type NamedChunk = z.infer<typeof namedChunk>
/** A list of chunks begins with the size of the disk. */
export const namedLine = z.union([namedChunk, namedDisk])
export type NamedLine = z.infer<typeof namedLine>

export const sealChunks = z.object({ keys: z.string(), wanted: z.array(z.number().int().min(0)) })

export const restoreCapture = z.object({ keys: z.string(), diskBytes: z.number().int().positive() })
export type RestoreCapture = z.infer<typeof restoreCapture>
