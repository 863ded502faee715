/**
 * Marks the processes of a command, so that they can be found even if they try to hide. A mark is an environment
 * variable and a pattern of capabilities in the bounding set that have no effect in a sandbox. The variable also marks
 * what `sudo` runs, but a process can clear its environment. Only root can remove the pattern.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { type Capability, capabilitiesOf, maskOf } from './capabilities.ts'

/** Name of the environment variable. The `sudo` of the images passes it on. */
export const markVariable = 'DOCK_EXEC_ID'

/** The bits of a pattern. A sandbox implements nothing that these capabilities allow, so root gains nothing by them. */
const places: readonly Capability[] = [
  'LINUX_IMMUTABLE',
  'NET_BROADCAST',
  'IPC_LOCK',
  'SYS_PACCT',
  'SYS_TIME',
  'SYS_TTY_CONFIG',
  'LEASE',
  'AUDIT_CONTROL',
  'MAC_OVERRIDE',
  'MAC_ADMIN',
  'SYSLOG',
  'WAKE_ALARM',
  'BLOCK_SUSPEND',
  'AUDIT_READ',
  'PERFMON',
  'BPF',
  'CHECKPOINT_RESTORE',
]

/** The first digits of a mark are the number of its pattern. */
const patternDigits = 5
const markForm = /^[0-9a-f]{25}$/
const patternsMax = 2 ** places.length - 1

/** Creates the marks for the commands of one sandbox. */
export class ExecMarks {
  #pattern = randomInt(patternsMax)

  /**
   * Returns a unique mark. It begins with the number of its pattern, which is never 0. Patterns are assigned in turn:
   * random ones could repeat, and ending one command would then end the other.
   */
  next(): string {
    this.#pattern = 1 + (this.#pattern % patternsMax)
    return `${this.#pattern.toString(16).padStart(patternDigits, '0')}${randomBytes(10).toString('hex')}`
  }
}

/** Returns the capabilities of a mark's pattern. */
export function markCapabilities(mark: string): Capability[] {
  const pattern = Number.parseInt(mark.slice(0, patternDigits), 16)
  return places.filter((_, place) => (pattern & (1 << place)) !== 0)
}

/** Returns the bounding set of a marked process in the format of /proc/PID/status. */
export function markedBoundingSet(mark: string): string {
  return maskOf(capabilitiesOf(0, markCapabilities(mark)).bounding)
    .toString(16)
    .padStart(16, '0')
}

/**
 * Returns the mark of a process with this bounding set and mark variable, or null if it is not marked. If only the
 * pattern is left, returns the digits of the pattern, which are enough to find the processes again.
 */
export function markOf(bounding: string, variable: string): string | null {
  const held = BigInt(`0x${bounding}`)
  const number = places.reduce(
    (sum, each, place) => sum + ((held & BigInt(maskOf([each]))) === 0n ? 0 : 1 << place),
    0,
  )
  const pattern = number.toString(16).padStart(patternDigits, '0')
  const isMarked = number > 0 && markedBoundingSet(pattern) === bounding
  if (markForm.test(variable) && (!isMarked || variable.startsWith(pattern))) return variable
  return isMarked ? pattern : null
}

/** Returns true if both can be marks of the same command. Either may consist of the pattern only. */
export function isSameMark(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}
