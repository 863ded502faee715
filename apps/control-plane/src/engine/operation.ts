/** One operation: the saved intent of a change, and how far it has come. */

/** Who changed something, through what, and why: read by inbox, webhooks and audit alike. */
export type Cause = { by: string; through: 'api' | 'timer' | 'host' | 'recovery'; why: string }

export type OperationError = { code: string; message: string }

export type OperationStatus = 'pending' | 'processing' | 'blocked' | 'completed'

/** A row of `operations`; `data` is the saga's own, and changes only in memory of the saga and through a step's record. */
export type OperationRow = {
  id: string
  organizationId: string
  kind: string
  targetType: 'dock' | 'snapshot' | 'template' | 'environment'
  targetId: string
  dockId: string | null
  hostId: string | null
  generation: number
  status: OperationStatus
  /** The host for which it is `blocked`. */
  waitsFor?: string
  step: string | null
  undoing: boolean
  data: Record<string, unknown>
  cause: Cause
  error: OperationError | null
  /** What `finish` published, for the caller who waits in this process; not stored. */
  result?: unknown
}
