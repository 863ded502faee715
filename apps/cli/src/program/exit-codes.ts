/** The exit codes of the command line. docs/cli.md shows the same table. */
import { DockApiError, DockError } from '@dock/sdk'
import { SignInFirst, UsageError } from './failures.ts'

export const exitCodes = {
  ok: 0,
  error: 1,
  usage: 2,
  signIn: 4,
  notFound: 5,
  conflict: 6,
  capacity: 7,
  /** The Dock was made and is kept, but its setup failed. */
  setup: 8,
  /** The service failed around a command that was to run, or runs, in a Dock. */
  service: 255,
} as const

/** Codes that their status alone does not decide, and codes without a status. */
const byCode: Readonly<Record<string, number>> = {
  capacity_exhausted: exitCodes.capacity,
  no_host_capacity: exitCodes.capacity,
  base_image_unavailable: exitCodes.capacity,
  image_unavailable: exitCodes.capacity,
  concurrency_exceeded: exitCodes.capacity,
  setup_failed: exitCodes.setup,
  exec_busy: exitCodes.conflict,
  rate_limited: exitCodes.conflict,
  session_required: exitCodes.signIn,
  dock_not_found: exitCodes.notFound,
  not_found: exitCodes.notFound,
  name_ambiguous: exitCodes.usage,
  validation_error: exitCodes.usage,
}

const byStatus: Readonly<Record<number, number>> = {
  401: exitCodes.signIn,
  404: exitCodes.notFound,
  409: exitCodes.conflict,
}

/** Returns the exit code for a failure. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exitCodes.usage
  if (error instanceof SignInFirst) return exitCodes.signIn
  if (!(error instanceof DockError)) return exitCodes.error
  const known = byCode[error.code]
  if (known !== undefined) return known
  return error instanceof DockApiError ? (byStatus[error.status] ?? exitCodes.error) : exitCodes.error
}

/** Returns the exit code for a failure around a command in a Dock: what is not the caller's to correct is 255. */
export function exitCodeAroundCommand(error: unknown): number {
  const code = exitCodeOf(error)
  return code === exitCodes.error || code === exitCodes.capacity ? exitCodes.service : code
}
