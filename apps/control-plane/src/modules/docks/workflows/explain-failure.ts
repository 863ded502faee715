/** What a caller reads of a step that failed. The detail is in the log. */
import { errorCodes, ServiceError } from '@dock/contract'
import type { OperationError } from '../../../engine/index.ts'
import { HostRefused } from '../../hosts/index.ts'

export const explainFailure = (error: unknown): OperationError => {
  if (error instanceof ServiceError) return { code: error.code, message: error.message }
  const code =
    error instanceof HostRefused && error.code === 'no_space' ? 'capacity_exhausted' : 'service_unavailable'
  return { code, message: errorCodes[code].message }
}
