/** What a caller reads of a step that failed. The detail is in the log. */
import { errorCodes, ServiceError } from '@dock/contract'
import type { OperationError } from '../../../engine/index.ts'
import { HostRefused } from '../../hosts/index.ts'

export function explainFailure(error: unknown): OperationError {
  if (error instanceof ServiceError) return { code: error.code, message: error.message }
  const refusal = error instanceof HostRefused ? error.code : null
  // All else of a command was checked before: what a host finds wrong with one is a disk too small for its data.
  if (refusal === 'invalid')
    return { code: 'validation_error', message: 'diskGiB: below the data that the disk holds.' }
  const code = refusal === 'no_space' ? 'capacity_exhausted' : 'service_unavailable'
  return { code, message: errorCodes[code].message }
}
