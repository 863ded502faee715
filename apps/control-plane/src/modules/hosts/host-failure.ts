/** Maps the errors of a Dock's host to errors of the API. Each kind of call words some of them in its own way. */
import { ServiceError } from '@dock/contract'
import { type AgentErrorCode, HostNotLinked, HostRefused, HostUnreachable } from '@dock/host-protocol'

/** The call was refused before anything began, so the same idempotency key may be used again. */
export class NotBegun extends ServiceError {}

/** Why a call to a Dock's host failed: the code of its refusal, or that the host was not reached. */
export type HostFailure = AgentErrorCode | 'not_linked' | 'unreachable'
type Explain = (cause: Error) => ServiceError

/** `busy` stands for a limit, which only the caller can name. The others default to {@link usual}. */
export type HostFailureWords = Partial<Record<HostFailure, Explain>> & { busy: Explain }

const failed: Explain = ({ message }) => new ServiceError('exec_failed', { detail: message })
const notRunning: Explain = ({ message }) => new NotBegun('dock_not_running', { detail: message })
const asWritten: Explain = ({ message }) => new NotBegun('validation_error', { message })

const usual: Record<Exclude<HostFailure, 'busy'>, Explain> = {
  not_linked: (cause) => new NotBegun('exec_busy', { cause }),
  unreachable: (cause) => new ServiceError('exec_failed', { cause }),
  not_running: notRunning,
  stale_generation: notRunning,
  not_found: notRunning,
  unsupported: ({ message }) => new NotBegun('exec_unavailable', { detail: message }),
  exec_refused: asWritten,
  invalid: asWritten,
  frozen: ({ message }) => new NotBegun('exec_busy', { detail: message }),
  out_of_memory: ({ message }) =>
    new ServiceError('exec_failed', {
      message:
        'The Dock ran out of memory while the command ran. Its files are intact. If the Dock could not continue, ' +
        'it was restarted. Use less memory, or a Dock with more memory.',
      detail: message,
    }),
  conflict: failed,
  no_space: failed,
  damaged: failed,
  failed,
}

/** Returns the API error of a host's error; other errors unchanged. */
export function explainHostFailure(error: unknown, words: HostFailureWords): unknown {
  if (error instanceof HostNotLinked) return (words.not_linked ?? usual.not_linked)(error)
  if (error instanceof HostUnreachable) return (words.unreachable ?? usual.unreachable)(error)
  if (!(error instanceof HostRefused)) return error
  const { code } = error
  return code === 'busy' ? words.busy(error) : (words[code] ?? usual[code])(error)
}

/** What callers read when the host cannot be reached, and the work goes on there or nothing was begun. */
export function hostNotReached(cause: Error): ServiceError {
  return new ServiceError('service_unavailable', {
    message: "The Dock's host cannot be reached. Retry in a moment.",
    cause,
  })
}
