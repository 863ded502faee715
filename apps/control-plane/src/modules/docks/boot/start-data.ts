/** What a start keeps in its operation's row. */
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
  /** Known to get nothing, and to have had nothing, from an Environment or its creator: nothing is looked for. */
  unfurnished?: boolean
  /** The Environment passes repositories on; and what became of them. */
  repositories?: RepositoriesProgress
  /** A setup script runs once the Dock is ready. */
  setup?: boolean
  /** Of a resume: what the row read before, for one that fails. */
  before?: Pick<
    DockRow,
    'diskGiB' | 'ttlSeconds' | 'environment' | 'environmentId' | 'environmentVersion' | 'noEnv'
  > &
    DockPassing & {
      /** The ttl that the resume gave, if it gave one. */
      givenTtl?: number | null
    }
  /** The host that kept the capture when the start was ordered; null: only its copy was left. */
  captureHost?: string | null
  /** Of a boot after a loss. */
  recovery?: Recovery
  /** The host on which the start failed before; it is tried on one other only. */
  movedFrom?: string
  /** The Dock whose disk a branch copies, and what holds it meanwhile. */
  source?: {
    dockId: string
    generation: number
    snapshotId: string
    /** The source runs, and is captured first. */
    live: boolean
    operationId: string
    sizeBytes?: number
  }
  ip?: string
  /** The host refused a start of the lost time in a way that tells that it has no later boot of the Dock. */
  hasNotGoneOn?: boolean
  /** What hosts could not be told of a start that is undone. */
  orders?: OrderForHost[]
}

/** The host that placement chose: only the row knows it from the first moment. */
export function hostOf(operation: OperationRow): string {
  if (operation.hostId === null) throw new Error(`operation ${operation.id} has no host`)
  return operation.hostId
}

export function startData(operation: OperationRow): StartData {
  return operation.data as unknown as StartData
}
