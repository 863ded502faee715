import * as z from 'zod'
import { dockStates } from '../dock-state.ts'
import { dockStopReasons } from '../dock-stop.ts'
import { count, cpus, diskGiB, integer, memoryMiB, runtimeName, timestamp, uuid } from '../fields.ts'

export const dockState = z.enum(dockStates)
export const setupStatuses = ['pending', 'running', 'done', 'failed'] as const
export type SetupStatus = (typeof setupStatuses)[number]
export const setupStatus = z.enum(setupStatuses)

export const dock = z.strictObject({
  id: uuid,
  workspaceId: uuid,
  name: z.string().nullable(),
  image: z.string(),
  cpus,
  memoryMiB,
  diskGiB,
  runtime: runtimeName,
  persistentPaths: z.array(z.string()),
  state: dockState,
  ttlSeconds: integer.nullable(),
  environment: z.string(),
  fromTemplate: z.string().nullable(),
  ip: z.string().nullable(),
  hostId: z.string().nullable(),
  billingPausedAt: timestamp.nullable(),
  setupStatus,
  setupError: z.string().nullable(),
  lastSnapshotAt: timestamp.nullable(),
  stateChangedAt: timestamp,
  createdAt: timestamp,
  updatedAt: timestamp,
})
export type Dock = z.output<typeof dock>

/** The response of stop and resume. */
export const dockStateAnswer = z.strictObject({ id: uuid, state: dockState })

export const dockStopReason = z.enum(dockStopReasons)

/** Who stopped a Dock. `keyName` is set only for the owner of the API key. */
export const dockStopActor = z.strictObject({
  kind: z.enum(['person', 'api_key', 'system']),
  name: z.string(),
  keyName: z.string().nullable(),
})

/** Why a Dock stopped, failed, or cannot be reached. */
export const dockStop = z.strictObject({
  reason: dockStopReason,
  by: dockStopActor,
  at: timestamp,
  message: z.string(),
})
export type DockStop = z.output<typeof dockStop>

/** `lastStop` is `null` if the Dock has never stopped. */
export const dockLastStop = z.strictObject({ lastStop: dockStop.nullable() })
export type DockLastStop = z.output<typeof dockLastStop>

export const execResult = z.strictObject({
  exitCode: integer,
  stdout: z.string(),
  stderr: z.string(),
  durationMs: count,
  truncated: z.boolean(),
})
export type ExecResult = z.output<typeof execResult>

export const terminalTicket = z.strictObject({ ticket: z.string(), expiresAt: timestamp })
export type TerminalTicket = z.output<typeof terminalTicket>

export const portEntry = z.strictObject({ port: integer, url: z.string().nullable(), createdAt: timestamp })
export type PortEntry = z.output<typeof portEntry>

export const portSettings = z.strictObject({ port: integer, host: z.enum(['local', 'public']) })
export type PortSettings = z.output<typeof portSettings>

/** Usage of one container, as the host reports it. Its fields depend on the host. */
export const containerSample = z.looseObject({})

export const dockSample = z.strictObject({
  dockId: uuid,
  at: timestamp,
  cpuPercent: z.number(),
  memBytes: count,
  memLimit: count,
  diskBytes: count,
  rxBytes: count,
  txBytes: count,
  source: z.string(),
  /** Usage per container, if the host reports it. */
  containers: z.array(containerSample).optional(),
})
export type DockSample = z.output<typeof dockSample>

/** Averages or peaks of the samples in a window. */
export const statsAggregate = z.strictObject({
  cpuPercent: z.number(),
  memBytes: z.number(),
  memLimit: z.number(),
  diskBytes: z.number(),
  rxBytes: z.number(),
  txBytes: z.number(),
})

export const statsWindow = z.enum(['1h', '24h'])

/** Averages and peaks over a window. */
export const windowStats = z.strictObject({
  window: statsWindow,
  samples: count,
  avg: statsAggregate,
  peak: statsAggregate,
})

export const dockStats = z.strictObject({
  dockId: uuid,
  state: dockState,
  sample: dockSample.nullable(),
  window: windowStats.optional(),
})
export type DockStats = z.output<typeof dockStats>

export const image = z.strictObject({
  name: z.string(),
  isDefault: z.boolean(),
  /** True if a Dock can be started from the image now. */
  available: z.boolean(),
  /**
   * Extension: the version from which new Docks start. `sha256:` and the digest of the published disk, or `built:` and what
   * the image was built from while only the host that built it has it. Null before the image exists.
   */
  version: z.string().nullable(),
})
export type Image = z.output<typeof image>
