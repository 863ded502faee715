/** What was measured, by line and round. */
import type { Costs } from './costs.ts'
import type { Place } from './side.ts'

type Name = Place['name']

/** One round of one server: durations in milliseconds (or MiB), the costs of one request, and system calls of the agent. */
export type Round = { samples: number[]; costs?: Costs; systemCalls?: number }

export type Line = { name: string; unit: 'ms' | 'MiB'; rounds: Record<Name, Round[]> }

export class Records {
  readonly #lines = new Map<string, Line>()

  /** Adds a round to a line. Both servers add their rounds in the same order. */
  add(name: string, side: Name, round: Round, unit: Line['unit'] = 'ms'): void {
    const line = this.#lines.get(name) ?? { name, unit, rounds: { base: [], now: [] } }
    this.#lines.set(name, line)
    line.rounds[side].push(round)
  }

  /** Adds the count of a line's system calls, which is made in a round of its own. */
  addSystemCalls(name: string, side: Name, systemCalls: number): void {
    const round = this.#lines.get(name)?.rounds[side].at(-1)
    if (round) round.systemCalls = systemCalls
  }

  lines(): Line[] {
    return [...this.#lines.values()]
  }
}
