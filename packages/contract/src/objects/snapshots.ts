import * as z from 'zod'
import { count, nextCursor, runtimeName, timestamp, uuid } from '../fields.ts'

export const snapshotStatuses = ['saving', 'completed', 'failed'] as const
export type SnapshotStatus = (typeof snapshotStatuses)[number]

export const snapshot = z.strictObject({
  id: uuid,
  dockId: uuid,
  status: z.enum(snapshotStatuses),
  sizeBytes: count,
  runtime: runtimeName.nullable(),
  createdAt: timestamp,
})
export type Snapshot = z.output<typeof snapshot>

export const snapshotPage = z.strictObject({ snapshots: z.array(snapshot), nextCursor })
export type SnapshotPage = z.output<typeof snapshotPage>

export const snapshotTree = z.strictObject({
  snapshotId: uuid,
  files: z.array(z.strictObject({ path: z.string(), size: count })),
})
export type SnapshotTree = z.output<typeof snapshotTree>

/** `url` is a relative link to the files route. */
export const snapshotDownload = z.strictObject({
  snapshotId: uuid,
  files: z.array(z.strictObject({ path: z.string(), size: count, url: z.string() })),
})
export type SnapshotDownload = z.output<typeof snapshotDownload>
