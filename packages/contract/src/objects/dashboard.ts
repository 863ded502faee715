/** Extensions, not part of the specification: what only the dashboard shows. */
import * as z from 'zod'
import { count, integer, nextCursor, timestamp, uuid } from '../fields.ts'
import { dock, dockState, statsWindow } from './docks.ts'
import { fileType } from './files.ts'
import { snapshot } from './snapshots.ts'
import { template } from './templates.ts'

export const dockCreator = z.strictObject({ id: uuid, name: z.string() })

/** A Dock with what a list of Docks shows beside it. */
export const listedDock = dock.extend({
  organizationId: uuid,
  /** Null if that person is erased. */
  createdBy: dockCreator.nullable(),
  /** When its ttl stops it. */
  stopAt: timestamp.nullable(),
  environmentId: uuid.nullable(),
  environmentVersion: integer.nullable(),
})
export type ListedDock = z.output<typeof listedDock>

export const dockSearchPage = z.strictObject({ docks: z.array(listedDock), nextCursor })
export type DockSearchPage = z.output<typeof dockSearchPage>

export const timelineActor = z.strictObject({ kind: z.enum(['person', 'system']), name: z.string() })

/** A change of a Dock's state with its cause, or a process that ended for lack of memory. */
export const timelineEntry = z.strictObject({
  id: z.string(),
  at: timestamp,
  kind: z.enum(['state', 'memory']),
  fromState: dockState.nullable(),
  toState: dockState.nullable(),
  /** Who: a person, or the part of Dock that acted. */
  by: timelineActor,
  through: z.string(),
  why: z.string(),
  /** With `memory`: the program that ended, if the host knows it, and how many processes ended. */
  process: z.string().nullable(),
  count: integer.nullable(),
})
export type TimelineEntry = z.output<typeof timelineEntry>

export const dockTimeline = z.strictObject({ entries: z.array(timelineEntry), nextCursor })
export type DockTimeline = z.output<typeof dockTimeline>

/** The most of each size that a host which is online could take. */
export const largestDock = z.strictObject({ cpus: count, memoryMiB: count, diskGiB: count })
export type LargestDock = z.output<typeof largestDock>

export const seriesPoint = z.strictObject({
  at: timestamp,
  cpuPercent: z.number(),
  memBytes: z.number(),
  memLimit: z.number(),
  diskBytes: z.number(),
  /** Received and sent since the Dock booted. */
  rxBytes: z.number(),
  txBytes: z.number(),
})

/** Averages of equal steps of time, oldest first. A step without samples is missing. */
export const dockSeries = z.strictObject({
  window: statsWindow,
  stepSeconds: count,
  points: z.array(seriesPoint),
})
export type DockSeries = z.output<typeof dockSeries>

/** The durable copy of a Snapshot. `provenAt`: when every byte of it was last read back and found whole. */
export const snapshotCopy = z.strictObject({
  provenAt: timestamp,
  /** Not null if a later check found damage that could not be repaired. */
  damagedAt: timestamp.nullable(),
})

export const listedSnapshot = snapshot.extend({
  organizationId: uuid,
  dockName: z.string().nullable(),
  /** True if the machine did not answer when it was captured: the disk is as after a power cut. */
  afterPowerCut: z.boolean(),
  /** Null until the copy is made. Until then only the host keeps the Snapshot. */
  copy: snapshotCopy.nullable(),
})
export type ListedSnapshot = z.output<typeof listedSnapshot>

export const snapshotSearchPage = z.strictObject({ snapshots: z.array(listedSnapshot), nextCursor })
export type SnapshotSearchPage = z.output<typeof snapshotSearchPage>

/** A file or folder on one side of a comparison. */
export const snapshotSide = z.strictObject({ type: fileType, mode: z.string(), size: count })
/** In names and paths of Snapshots, `%XX` stands for a byte that is not UTF-8. */
export const snapshotEntry = snapshotSide.extend({ name: z.string() })
export type SnapshotEntry = z.output<typeof snapshotEntry>

export const snapshotFolder = z.strictObject({ entries: z.array(snapshotEntry), nextCursor })
export type SnapshotFolder = z.output<typeof snapshotFolder>

export const snapshotDifference = z.enum(['added', 'removed', 'type', 'contents', 'mode', 'owner'])

/** `before` is null if the path is new, `after` if it is gone. */
export const snapshotChange = z.strictObject({
  path: z.string(),
  before: snapshotSide.nullable(),
  after: snapshotSide.nullable(),
  differences: z.array(snapshotDifference),
})
export type SnapshotChange = z.output<typeof snapshotChange>

export const snapshotDiff = z.strictObject({
  changes: z.array(snapshotChange),
  nextCursor,
  /** How many files and folders this page has compared. */
  visited: count,
  /** True if a folder has names with a line break, or files in very many pieces, which are not compared. */
  hasUnlisted: z.boolean(),
})
export type SnapshotDiff = z.output<typeof snapshotDiff>

export const listedTemplate = template.extend({
  createdBy: dockCreator.nullable(),
  sourceDockName: z.string().nullable(),
  image: z.string(),
  diskGiB: integer,
})
export type ListedTemplate = z.output<typeof listedTemplate>
