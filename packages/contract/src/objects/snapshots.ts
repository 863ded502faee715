import * as z from 'zod'
import { count, nextCursor, runtimeName, timestamp, uuid } from '../fields.ts'

export const snapshotStatuses = ['saving', 'completed', 'failed'] as const
export type SnapshotStatus = (typeof snapshotStatuses)[number]
export const snapshotStatus = z.enum(snapshotStatuses)

export const snapshot = z.strictObject({
  id: uuid,
  dockId: uuid,
  status: snapshotStatus,
  sizeBytes: count,
  runtime: runtimeName.nullable(),
  createdAt: timestamp,
})
export type Snapshot = z.output<typeof snapshot>

export const snapshotPage = z.strictObject({ snapshots: z.array(snapshot), nextCursor })
export type SnapshotPage = z.output<typeof snapshotPage>

export const snapshotFile = z.strictObject({ path: z.string(), size: count })
/** `url` is a relative link to the files route. */
export const snapshotFileLink = snapshotFile.extend({ url: z.string() })

export const snapshotTree = z.strictObject({
  snapshotId: uuid,
  files: z.array(snapshotFile),
})
export type SnapshotTree = z.output<typeof snapshotTree>

export const snapshotDownload = z.strictObject({
  snapshotId: uuid,
  files: z.array(snapshotFileLink),
})
export type SnapshotDownload = z.output<typeof snapshotDownload>
