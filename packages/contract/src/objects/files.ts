/** Files in running Docks. */
import * as z from 'zod'
import { count, nextCursor, timestamp } from '../fields.ts'

export const fileTypes = ['file', 'folder', 'link', 'pipe', 'socket', 'device'] as const
export type FileType = (typeof fileTypes)[number]
export const fileType = z.enum(fileTypes)

/** Names and targets are bytes as text, see byte-name.ts. A link is described itself, not what it points to. */
export const fileEntry = z.strictObject({
  name: z.string(),
  type: fileType,
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

/** The watch began: all changes from now on are reported. */
export const watchStarted = z.strictObject({ type: z.literal('watching'), folders: count })

export const pathChange = z.strictObject({
  type: z.enum(['created', 'modified', 'attributes', 'deleted']),
  path: z.string(),
  isFolder: z.boolean(),
})
export const pathMove = z.strictObject({
  type: z.literal('moved'),
  path: z.string(),
  to: z.string(),
  isFolder: z.boolean(),
})

/** `overflow`: changes were lost, so list the folder again. `alive` comes every 30 seconds. */
export const watchNotice = z.strictObject({ type: z.enum(['overflow', 'alive']) })

/** The last line of a watch. `gone`: the folder no longer exists. `time`: the watch reached its longest time. */
export const watchEnded = z.strictObject({ type: z.literal('ended'), reason: z.enum(['gone', 'time']) })

/**
 * One line of a watch. `watching` comes first, once all changes from then on are reported. `overflow`: changes were lost,
 * list the folder again. `alive` comes every 30 seconds. `ended` is the last line.
 */
export const fileChange = z.discriminatedUnion('type', [
  watchStarted,
  pathChange,
  pathMove,
  watchNotice,
  watchEnded,
])
export type FileChange = z.output<typeof fileChange>
