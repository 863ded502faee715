/** Maps errors of a Dock's host to API errors, for kept processes. */
import { limits, ServiceError } from '@dock/contract'
import { HostNotLinked, HostRefused, HostUnreachable } from '../hosts/index.ts'

const { runningPerDockMax, readersPerDockMax } = limits.processes

/** The process was refused before anything ran, so the same idempotency key may be used again. */
export class NotStarted extends ServiceError {}

/** What a caller reads when a Dock runs as many processes, or has as many readers, as it may. */
export const tooManyProcesses: string = `${runningPerDockMax} processes are running in this Dock; wait until one ends.`
export const tooManyReaders: string = `${readersPerDockMax} streams of processes of this Dock are open; close one.`

/** Returns the API error of a host's error, with `busy` as the message of a limit; other errors unchanged. */
export function toProcessFailure(error: unknown, busy: string): unknown {
  if (error instanceof HostNotLinked) return new NotStarted('exec_busy', { cause: error })
  if (error instanceof HostUnreachable)
    return new ServiceError('service_unavailable', {
      message: "The Dock's host cannot be reached. Retry in a moment.",
      cause: error,
    })
  return error instanceof HostRefused ? refusalOf(error, busy) : error
}

const refusalOf = (error: HostRefused, busy: string): ServiceError => {
  const detail = error.message
  switch (error.code) {
    case 'busy':
      return new NotStarted('rate_limited', { message: busy })
    case 'not_found':
      return new ServiceError('not_found', { message: 'This Dock has no such process.' })
    case 'conflict':
      return new ServiceError('conflict', { message: asSentence(detail) })
    case 'not_running':
    case 'stale_generation':
      return new NotStarted('dock_not_running', { detail })
    case 'unsupported':
      return new NotStarted('exec_unavailable', { detail })
    case 'exec_refused':
    case 'invalid':
      return new NotStarted('validation_error', { message: detail })
    case 'frozen':
      return new NotStarted('exec_busy', { detail })
    case 'out_of_memory':
    case 'no_space':
    case 'damaged':
    case 'failed':
      return new ServiceError('service_unavailable', {
        message: 'The Dock could not do this. Retry in a moment.',
        detail,
      })
  }
}

const asSentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
