/** What a start keeps in its operation's row. `create`, `branch`, `resume` and `recover` share one schema. */
import { runtimeName, uuid, webhookEventType } from '@dock/contract'
import * as z from 'zod'
import { firstVersion, type OperationRow } from '../../../engine/index.ts'
import { orderForHost, startDockMessage } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { repositoriesProgress } from '../environment/repositories/repository-steps.ts'
import { recovery } from './recovery.ts'

/** The Dock's values before a resume. */
const valuesBefore = z.strictObject({
  diskGiB: z.int(),
  ttlSeconds: z.int().nullable(),
  environment: z.string(),
  environmentId: uuid.nullable(),
  environmentVersion: z.int().nullable(),
  noEnv: z.boolean(),
  envPasses: z.boolean(),
  marks: z.array(uuid),
  /** The ttl that the resume set, if it set one. */
  givenTtl: z.int().nullable().optional(),
})

/** The source Dock of a branch, and the operation that locks it. */
const branchSource = z.strictObject({
  dockId: uuid,
  generation: z.int(),
  snapshotId: uuid,
  /** True if the source runs and must be captured first. */
  live: z.boolean(),
  operationId: z.string(),
  sizeBytes: z.number().optional(),
  afterPowerCut: z.boolean().optional(),
})

export const startData = z.strictObject({
  dataVersion: firstVersion,
  command: startDockMessage.pick({
    hostname: true,
    cpus: true,
    memoryMiB: true,
    diskGiB: true,
    source: true,
    newIdentity: true,
  }),
  event: webhookEventType.nullable(),
  /** True if the Dock has no variables, files or repositories, so the start need not look for any. */
  unfurnished: z.boolean().optional(),
  /** Set if the Environment passes repositories: their progress. */
  repositories: repositoriesProgress.optional(),
  /** True if a setup script runs once the Dock is ready. */
  setup: z.boolean().optional(),
  /** The runtime that the caller asked for. */
  runtime: runtimeName.optional(),
  /** Resume only: restored if the resume fails. */
  before: valuesBefore.optional(),
  /** The host that kept the capture when the start was claimed; null if only the copy existed. */
  captureHost: uuid.nullable().optional(),
  /** Recovery only. */
  recovery: recovery.optional(),
  /** The host on which the first attempt failed. A start is moved at most once. */
  movedFrom: uuid.optional(),
  /** Branch only. */
  source: branchSource.optional(),
  ip: z.string().optional(),
  /** True if the host's refusal proves that it has no later boot of the Dock; see `recovery/lost-time.ts`. */
  hasNotGoneOn: z.boolean().optional(),
  /** Orders to save for hosts that could not be reached while the start was undone. */
  orders: z.array(orderForHost).optional(),
})
export type StartData = z.infer<typeof startData>

export const branchData = startData.required({ source: true })
export type BranchData = z.infer<typeof branchData>

/** What a completed start returns to a caller in this process: the ready Dock, or null if it has changed meanwhile. */
export type StartResult = DockRow | null
export type StartOperation = OperationRow<StartData, StartResult>

/** Returns the operation's host. Throws if placement has not set one. */
export function hostOf(operation: OperationRow): string {
  if (operation.hostId === null) throw new Error(`operation ${operation.id} has no host`)
  return operation.hostId
}
