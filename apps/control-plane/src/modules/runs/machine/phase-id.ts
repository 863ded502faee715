/** Ids of the processes of a turn. */
import { createHash } from 'node:crypto'

/** Returns the same id for the same turn and phase, so that a phase that is repeated after a crash finds its process. */
export function phaseId(turnId: string, phase: string): string {
  const bytes = createHash('sha256').update(`${turnId} ${phase}`).digest().subarray(0, 16)
  // The version and variant bits of a UUID (RFC 9562, version 8: free content).
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** The phase that runs the tests of the repository. */
export const testsPhase = 'tests'
