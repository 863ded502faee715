/** Files in running Docks. */
import * as z from 'zod'
import { count, nextCursor, timestamp } from '../fields.ts'

export const fileTypes = ['file', 'folder', 'link', 'pipe', 'socket', 'device'] as const
export type FileType = (typeof fileTypes)[number]

/** Names and targets are bytes as text, see byte-name.ts. A link is described itself, not what it points to. */
export const fileEntry = z.strictObject({
  name: z.string(),
  type: z.enum(fileTypes),
  size: count,
  /** Permission bits in four octal digits. */
  mode: z.string(),
  modifiedAt: timestamp,
  /** Where a link points to; null for everything else. */
  target: z.string().nullable(),
})
export type FileEntry = z.output<typeof fileEntry>

/** `entry` is the path itself. `entries` is what a folder contains, sorted by bytes; empty for everything else. */
export const fileList = z.strictObject({ entry: fileEntry, entries: z.array(fileEntry), nextCursor })
export type FileList = z.output<typeof fileList>

const change = z.strictObject({
  type: z.enum(['created', 'modified', 'attributes', 'deleted']),
  path: z.string(),
  isFolder: z.boolean(),
})
const move = z.strictObject({
  type: z.literal('moved'),
  path: z.string(),
  to: z.string(),
  isFolder: z.boolean(),
})

/**
 * One line of a watch. `watching` comes first, once all changes from then on are reported. `overflow`: changes were lost,
 * list the folder again. `alive` comes every 30 seconds. `ended` is the last line.
 */
export const fileChange = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('watching'), folders: count }),
  change,
  move,
  z.strictObject({ type: z.enum(['overflow', 'alive']) }),
  z.strictObject({ type: z.literal('ended'), reason: z.enum(['gone', 'time']) }),
])
export type FileChange = z.output<typeof fileChange>
