/** Tells transient failures of host commands from permanent ones. */
import { HostRefused, HostUnreachable } from '../../hosts/index.ts'

const transientRefusals = new Set<string>(['busy', 'no_space', 'frozen'])

/** True if the command never started or can be rejoined, so it is retried on the host's next report. */
export function isTransientHostFailure(error: unknown): boolean {
  return (
    error instanceof HostUnreachable || (error instanceof HostRefused && transientRefusals.has(error.code))
  )
}
