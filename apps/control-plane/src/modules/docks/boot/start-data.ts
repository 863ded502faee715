/** Data of a start operation, stored in its row. */
import type { WebhookEventType } from '@dock/contract'
import type { OperationRow } from '../../../engine/index.ts'
import type { OrderForHost, StartDock } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import type { DockPassing } from '../core/dock-store.ts'
import type { RepositoriesProgress } from '../environment/repositories/repository-steps.ts'
import type { Recovery } from './recovery.ts'

export type StartData = {
  command: Omit<StartDock, 'operationId' | 'generation' | 'env' | 'files'>
  event: WebhookEventType | null
  /** True if the Dock has no variables, files or repositories, so the start need not look for any. */
  unfurnished?: boolean
  /** Set if the Environment passes on repositories: their progress. */
  repositories?: RepositoriesProgress
  /** True if a setup script runs once the Dock is ready. */
  setup?: boolean
  /** Resume only: the Dock's previous values, restored if the resume fails. */
  before?: Pick<
    DockRow,
    'diskGiB' | 'ttlSeconds' | 'environment' | 'environmentId' | 'environmentVersion' | 'noEnv'
  > &
    DockPassing & {
      /** The ttl that the resume set, if it set one. */
      givenTtl?: number | null
    }
  /** The host that kept the capture when the start was claimed; null if only the copy existed. */
  captureHost?: string | null
  /** Recovery only. */
  recovery?: Recovery
  /** The host on which the first attempt failed. A start is moved at most once. */
  movedFrom?: string
  /** Branch only: the source Dock, and the operation that locks it. */
  source?: {
    dockId: string
    generation: number
    snapshotId: string
    /** True if the source runs and must be captured first. */
    live: boolean
    operationId: string
    sizeBytes?: number
  }
  ip?: string
  /** True if the host's refusal proves that it has no later boot of the Dock; see `recovery/lost-time.ts`. */
  hasNotGoneOn?: boolean
  /** Orders to save for hosts that could not be reached while the start was undone. */
  orders?: OrderForHost[]
}

/** Returns the operation's host. Throws if placement has not set one. */
export function hostOf(operation: OperationRow): string {
  if (operation.hostId === null) throw new Error(`operation ${operation.id} has no host`)
  return operation.hostId
}

export function startData(operation: OperationRow): StartData {
  return operation.data as unknown as StartData
}
