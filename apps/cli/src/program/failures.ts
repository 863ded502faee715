/** Failures that the command line itself finds. Those of the service are the SDK's errors. */
import { DockError } from '@dock/sdk'

/** The command line is invalid or ambiguous. */
export class UsageError extends Error {
  readonly code: string
  constructor(message: string, code = 'usage') {
    super(message)
    this.code = code
  }
}

/** No key is known for the service. */
export class SignInFirst extends Error {
  readonly code = 'sign_in_first'
}

/** Something on this computer prevents the command. */
export class LocalError extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Returns the error for a name that nothing has. */
export function notFound(message: string): DockError {
  return new DockError('not_found', message)
}

/** Returns the stable code of any error. */
export function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[a-z_]+$/.test(code) ? code : 'error'
}
