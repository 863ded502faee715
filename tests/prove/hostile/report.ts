/** What a part of the proof tells: one line an attack, with the positive control that shows that the attack could be seen. */
import { print } from '../../../bench/parts/bench-server.ts'

export type Attack = {
  /** What was tried. */
  what: string
  /** True if the check sees an attack that succeeds, or that its means work where they may. */
  control: boolean
  holds: boolean
  /** What was seen, in a few words. */
  seen: string
}

export type Report = {
  attack(attack: Attack): void
  /** Attacks that got through, or whose control did not work. */
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
