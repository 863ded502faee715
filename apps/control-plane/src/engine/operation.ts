/** An operation: the saved intent of a change, and its progress. */

/** Who made a change, by which means, and why. Shown in the inbox and the timeline. */
export type Cause = {
  by: string
  through: 'api' | 'script' | 'timer' | 'host' | 'recovery'
  why: string
  /** The id of the API key with which the person in `by` acted. */
  apiKeyId?: string
  /** For the audit log alone, so never saved: the kind and id of the credential, and the address of the request. */
  credential?: string
  credentialId?: string
  address?: string
}

export type OperationError = { code: string; message: string }

export type OperationStatus = 'pending' | 'processing' | 'blocked' | 'completed'

/**
 * A row of `operations`. `data` is what its kind keeps, `unknown` until it is parsed. It belongs to the saga, which
 * changes it in memory; it is saved when a step is recorded.
 */
export type OperationRow<Data = unknown, Result = unknown> = {
  id: string
  organizationId: string
  kind: string
  /** Operations on a `run` are the engine's own: no route shows them. */
  targetType: 'dock' | 'snapshot' | 'template' | 'environment' | 'run'
  targetId: string
  dockId: string | null
  hostId: string | null
  generation: number
  status: OperationStatus
  /** The host that a `blocked` operation waits for. */
  waitsFor?: string
  step: string | null
  undoing: boolean
  data: Data
  cause: Cause
  error: OperationError | null
  /** The result of `finish`, for a caller that waits in this process. Not stored. */
  result?: Result
}
