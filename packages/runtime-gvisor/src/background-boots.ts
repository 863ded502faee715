/**
 * Boots that nobody waits for stand still for a moment when a sandbox is let go on, for which somebody waits: both would
 * want the same processors (decision 050). They get half of the time, however many follow each other.
 */
import { type Clock, systemClock } from '@dock/foundation'
import type { SandboxCgroup } from './sandbox-cgroup.ts'

export const stillMs = 80

type Group = Pick<SandboxCgroup, 'orderFreeze' | 'thaw'>

export class BackgroundBoots {
  readonly #clock: Clock
  readonly #booting = new Set<Group>()
  #nextMs = 0

  constructor(clock = systemClock) {
    this.#clock = clock
  }

  /** A boot begins; its group may not be there yet. The answer tells that it is over: from then on it is left alone. */
  begin(group: Group): () => void {
    this.#booting.add(group)
    return () => {
      if (this.#booting.delete(group)) ignoring(() => group.thaw())
    }
  }

  /** Somebody waits for another sandbox. */
  standStill(): void {
    const now = this.#clock.now().getTime()
    if (now < this.#nextMs || this.#booting.size === 0) return
    this.#nextMs = now + 2 * stillMs
    const still = [...this.#booting]
    for (const group of still) ignoring(() => group.orderFreeze())
    this.#clock.after(stillMs, () => {
      for (const group of still) if (this.#booting.has(group)) ignoring(() => group.thaw())
    })
  }
}

/** It is not made yet, or gone. */
const ignoring = (act: () => void): void => {
  try {
    act()
  } catch {}
}
