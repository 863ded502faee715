/** Maps errors of a Dock's host to API errors. */
import { ServiceError } from '@dock/contract'
import { HostRefused, HostUnreachable } from '../hosts/index.ts'
import { tooManyInDock } from './open-terminals.ts'

/** Returns the API error of a host's error while a terminal is opened; other errors unchanged. */
export function toTerminalFailure(error: unknown): unknown {
  if (error instanceof HostUnreachable)
    return new ServiceError('service_unavailable', {
      message: "The Dock's host cannot be reached. Retry in a moment.",
      cause: error,
    })
  if (!(error instanceof HostRefused)) return error
  switch (error.code) {
    case 'busy':
      return tooManyInDock()
    case 'not_running':
    case 'stale_generation':
    case 'not_found':
      return new ServiceError('dock_not_running', { detail: error.message })
    case 'unsupported':
      return new ServiceError('exec_unavailable', { detail: error.message })
    default:
      return new ServiceError('service_unavailable', {
        message: 'The Dock could not open a terminal. Retry in a moment.',
        cause: error,
      })
  }
}

/** Like {@link toTerminalFailure}, for a terminal that is attached to a process. */
export function toAttachFailure(error: unknown): unknown {
  if (!(error instanceof HostRefused)) return toTerminalFailure(error)
  switch (error.code) {
    case 'busy':
      return new ServiceError('rate_limited', {
        message: 'Too many streams of processes of this Dock are open. Close one and try again.',
      })
    case 'not_found':
      return noSuchTerminal()
    case 'conflict':
      return new ServiceError('conflict', { message: 'offset: the process has not written as much output.' })
    default:
      return toTerminalFailure(error)
  }
}

/** Returns the error for a process that no terminal can be attached to. */
export function noSuchTerminal(): ServiceError {
  return new ServiceError('not_found', { message: 'This Dock has no such running process with a pty.' })
}
