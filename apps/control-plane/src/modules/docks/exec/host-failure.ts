/** Maps errors of a Dock's host to API errors, for commands and processes. */
import { limits, ServiceError } from '@dock/contract'
import { HostNotLinked, HostRefused, HostUnreachable } from '../../hosts/index.ts'

/** The command was refused before anything ran, so the same idempotency key may be used again. */
export class NotRun extends ServiceError {}

/** What a caller reads when the Dock runs as many commands, or processes, as it may. */
export const commandRefusal: string = `${limits.exec.inFlightPerDockMax} commands are running in this Dock; wait until one ends.`
export const processRefusal: string = `${limits.attachedProcessesPerDockMax} processes are attached in this Dock; wait until one ends.`

/** Returns the API error of a host's error, with `busy` as the message if too much runs; other errors unchanged. */
export function toExecFailure(error: unknown, busy: string): unknown {
  if (error instanceof HostNotLinked) return new NotRun('exec_busy', { cause: error })
  if (error instanceof HostUnreachable) return new ServiceError('exec_failed', { cause: error })
  if (error instanceof HostRefused) return refusalOf(error, busy)
  return error
}

const refusalOf = (error: HostRefused, busy: string): ServiceError => {
  switch (error.code) {
    case 'busy':
      return new NotRun('rate_limited', { message: busy })
    case 'not_running':
    case 'not_found':
    case 'stale_generation':
      return new NotRun('dock_not_running', { detail: error.message })
    case 'unsupported':
      return new ServiceError('exec_unavailable', { detail: error.message })
    case 'exec_refused':
    case 'invalid':
      return new NotRun('validation_error', { message: error.message })
    case 'frozen':
      return new NotRun('exec_busy', { detail: error.message })
    case 'out_of_memory':
      return new ServiceError('exec_failed', {
        message:
          'The Dock ran out of memory while the command ran. Its files are intact. If the Dock could not continue, ' +
          'it was restarted. Use less memory, or a Dock with more memory.',
        detail: error.message,
      })
    case 'conflict':
    case 'no_space':
    case 'damaged':
    case 'failed':
      return new ServiceError('exec_failed', { detail: error.message })
  }
}
