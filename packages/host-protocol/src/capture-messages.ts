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

/** Names and paths are text, in which `%XX` stands for a byte that is not UTF-8. */
const nameLengthMax = 3 * 255
const pathLengthMax = 3 * 4096
const diskEntryType = z.enum(['file', 'folder', 'link', 'pipe', 'socket', 'device'])
const diskMode = z.string().regex(/^[0-7]{4}$/)
const size = z.number().int().min(0)

export const folderPageMax = 1_000
const cursorLengthMax = 10_000

/** GET /captures/:captureId/folder?path=&limit=&cursor=: a page of a folder, sorted by the bytes of the names. */
export const diskEntry = z.strictObject({
  name: z.string().max(nameLengthMax),
  type: diskEntryType,
  mode: diskMode,
  size,
})
export type DiskEntry = z.infer<typeof diskEntry>
export const diskFolder = z.strictObject({
  entries: boundedList(diskEntry, folderPageMax),
  nextCursor: z.string().max(cursorLengthMax).nullable(),
})
export type DiskFolder = z.infer<typeof diskFolder>

export const changesPageMax = 500
const diskSide = z.strictObject({ type: diskEntryType, mode: diskMode, size })
export const diskChange = z.strictObject({
  path: z.string().max(pathLengthMax),
  before: diskSide.nullable(),
  after: diskSide.nullable(),
  differences: boundedList(z.enum(['added', 'removed', 'type', 'contents', 'mode', 'owner']), 3),
})
export type DiskChange = z.infer<typeof diskChange>

/**
 * GET /captures/:captureId/changes?to=&cursor=: what differs in the capture `to`. The work of one request is bounded, so a
 * page may be empty and still have a `nextCursor`. `hasUnlisted`: a folder has names with a line break, or files in very many
 * pieces, which are left out.
 */
export const diskComparison = z.strictObject({
  changes: boundedList(diskChange, changesPageMax),
  nextCursor: z.string().max(cursorLengthMax).nullable(),
  visited: z.number().int().min(0),
  bytesRead: z.number().int().min(0),
  hasUnlisted: z.boolean(),
})
export type DiskComparison = z.infer<typeof diskComparison>

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
