/** Failures of a command of which the host's next report is the sign to try again: nothing of it was begun, or it is joined. */
import { HostRefused, HostUnreachable } from '../../hosts/index.ts'

const passing = new Set<string>(['busy', 'no_space', 'frozen'])

export function passesWithTime(error: unknown): boolean {
  return error instanceof HostUnreachable || (error instanceof HostRefused && passing.has(error.code))
}
