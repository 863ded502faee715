/**
 * How the processes of one command are known, whatever they do to hide: a variable in their environment, and a pattern
 * of capabilities in their bounding set that mean nothing in a sandbox. The variable is found on what `sudo` runs as
 * well, though not on a process that cleared its environment; nobody but root can take the pattern off.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { type Capability, capabilitiesOf, maskOf } from './capabilities.ts'

/** Name of the environment variable. `sudo` of the images passes it on. */
export const markVariable = 'DOCK_EXEC_ID'

/** The pattern's places. A sandbox implements none of what they allow, so a root that got them gains nothing. */
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

/** Of a mark, the digits that are the number of its pattern. */
const patternDigits = 5
const markForm = /^[0-9a-f]{25}$/
const patternsMax = 2 ** places.length - 1

/** Gives the commands of one sandbox their marks. */
export class ExecMarks {
  #pattern = randomInt(patternsMax)

  /**
   * A mark that no other command has. It begins with the number of its pattern, never 0. Patterns follow each other:
   * drawn by chance, two commands could have the same, and the end of one would be that of the other.
   */
  next(): string {
    this.#pattern = 1 + (this.#pattern % patternsMax)
    return `${this.#pattern.toString(16).padStart(patternDigits, '0')}${randomBytes(10).toString('hex')}`
  }
}

/** The capabilities that mark a command's processes in their bounding set. */
export function markCapabilities(mark: string): Capability[] {
  const pattern = Number.parseInt(mark.slice(0, patternDigits), 16)
  return places.filter((_, place) => (pattern & (1 << place)) !== 0)
}

/** The bounding set of a marked process as /proc/PID/status writes it. */
export function markedBoundingSet(mark: string): string {
  return maskOf(capabilitiesOf(0, markCapabilities(mark)).bounding)
    .toString(16)
    .padStart(16, '0')
}

/**
 * The mark of a process by its bounding set and the variable in its environment; null when it bears none. Where only the
 * pattern is left of it, the mark is that much: enough to find the processes again by.
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

/** Whether both may be marks of one command: of either only the pattern may be known. */
export function isSameMark(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}
