/** Turns errors into the line that a person reads in their terminal. */
import { ServiceError } from '@dock/contract'

/** A session that is not started. The message is for the person. */
export class SessionRefused extends Error {}

export const refusedExitCode = 1

/** Returns one line, or null for an unexpected error. */
export function explainRefusal(error: unknown): string | null {
  if (error instanceof SessionRefused || error instanceof ServiceError) return `dock: ${error.message}`
  return null
}
