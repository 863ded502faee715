/** The report of a part: one line per attack, with a positive control that shows that a success would be detected. */
import { print } from '../../../bench/parts/bench-server.ts'

export type Attack = {
  /** The attack. */
  what: string
  /** True if the positive control worked: the check detects a success, or the means of the attack work. */
  control: boolean
  /** True if the attack was repelled. */
  holds: boolean
  /** What was observed, in a few words. */
  seen: string
}

export type Report = {
  attack(attack: Attack): void
  /** Returns the number of attacks that succeeded or whose control did not work. */
  failed(): number
}

export function createReport(part: string): Report {
  let failures = 0
  return {
    attack: ({ what, control, holds, seen }) => {
      if (!control || !holds) failures += 1
      const verdict = control ? (holds ? 'holds ' : 'FAILED') : 'NO CONTROL'
      print(`${verdict} ${part}: ${what}: ${seen}`)
    },
    failed: () => failures,
  }
}
