/** Extensions, not part of the specification: what only the dashboard shows. */
import * as z from 'zod'
import { count, integer, nextCursor, timestamp, uuid } from '../fields.ts'
import { dock, dockState, statsWindow } from './docks.ts'

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
