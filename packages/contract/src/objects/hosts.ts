import * as z from 'zod'
import { count, integer, runtimeName, timestamp, uuid } from '../fields.ts'
import { dockState } from './docks.ts'

export const hostSummary = z.strictObject({
  id: z.string(),
  /** The address of the host's last connection; informational only. */
  address: z.string(),
  cpuFamily: z.string(),
  kernel: z.string(),
  runtime: runtimeName,
  kernelRelease: z.string().nullable(),
  vcpuTotal: count,
  memTotalBytes: count,
  diskTotalBytes: count,
  maxDocks: count,
  usedDocks: count,
  runningDocks: count,
  state: z.enum(['online', 'offline']),
  lastHeartbeatAt: timestamp.nullable(),
  createdAt: timestamp,
})
export type HostSummary = z.output<typeof hostSummary>

/** A Dock as the instance admin sees it on its host. */
export const hostDock = z.strictObject({
  id: uuid,
  name: z.string().nullable(),
  state: dockState,
  cpus: integer,
  memoryMiB: integer,
  diskGiB: integer,
  runtime: runtimeName,
  ip: z.string().nullable(),
  stateChangedAt: timestamp,
  workspaceName: z.string(),
  organizationId: uuid,
  organizationName: z.string(),
})

/** A runtime as reported by its host. */
export const reportedRuntime = z.strictObject({
  dockId: z.string(),
  state: z.string(),
  kind: z.string().optional(),
})

export const hostDetail = hostSummary.extend({
  docks: z.array(hostDock),
  runs: z.array(reportedRuntime),
  /** Reported runtimes that match no Dock. The reconciler fences them. */
  orphans: z.array(reportedRuntime),
})
export type HostDetail = z.output<typeof hostDetail>

/** Extension: the effects of declaring a host lost. */
export const declaredLost = z.strictObject({
  hostId: z.string(),
  /** Docks that were on the host. */
  docks: count,
  /** Snapshots that had no copy elsewhere and are now `failed`. */
  failedSnapshots: count,
})
export type DeclaredLost = z.output<typeof declaredLost>

const milliseconds = z.number().nonnegative()

/** Extension: the figures of a test of a host, in milliseconds. */
export const hostTest = z.strictObject({
  hostId: z.string(),
  runtime: runtimeName,
  image: z.string(),
  /** From the first work on the disk until commands can run. */
  bootMs: milliseconds,
  /** One command, after a first one. */
  execMs: milliseconds,
  /** From the thaw of a frozen Dock to the end of a command. Null if the runtime cannot freeze Docks. */
  thawMs: milliseconds.nullable(),
})
export type HostTest = z.output<typeof hostTest>

export const hostCredential = z.strictObject({ hostId: z.string(), credential: z.string() })
export type HostCredential = z.output<typeof hostCredential>
