/** Converts the error of a failed step into the error that the caller sees. The log has the details. */
import { errorCodes, ServiceError } from '@dock/contract'
import type { OperationError } from '../../../engine/index.ts'
import { HostRefused } from '../../hosts/index.ts'

export function explainFailure(error: unknown): OperationError {
  if (error instanceof ServiceError) return { code: error.code, message: error.message }
  const refusal = error instanceof HostRefused ? error.code : null
  // Everything else in the command was validated before, so `invalid` means that the disk is too small for its data.
  if (refusal === 'invalid')
    return { code: 'validation_error', message: 'diskGiB: too small for the data on the disk.' }
  const code = refusal === 'no_space' ? 'capacity_exhausted' : 'service_unavailable'
  return { code, message: errorCodes[code].message }
}
