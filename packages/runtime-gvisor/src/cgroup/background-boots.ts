/**
 * Pauses background boots while a user waits for another sandbox that is thawed, because both need the same processors
 * (decision 020). Background boots always run at least half of the time.
 */
import { type Clock, systemClock } from '@dock/foundation'
import type { SandboxCgroup } from './sandbox-cgroup.ts'

export const pauseMs = 80

type Group = Pick<SandboxCgroup, 'orderFreeze' | 'thaw'>

export class BackgroundBoots {
  readonly #clock: Clock
  readonly #booting = new Set<Group>()
  #nextMs = 0

  constructor(clock = systemClock) {
    this.#clock = clock
  }

  /**
   * Registers a boot. Its control group may not exist yet. The returned function ends the registration and any pause.
   */
  begin(group: Group): () => void {
    this.#booting.add(group)
    return () => {
      if (this.#booting.delete(group)) ignoreErrors(() => group.thaw())
    }
  }

  /** Pauses all background boots for {@link pauseMs}. Call it when a user waits for another sandbox. */
  pauseAll(): void {
    const now = this.#clock.now().getTime()
    if (now < this.#nextMs || this.#booting.size === 0) return
    this.#nextMs = now + 2 * pauseMs
    const still = [...this.#booting]
    for (const group of still) ignoreErrors(() => group.orderFreeze())
    this.#clock.after(pauseMs, () => {
      for (const group of still) if (this.#booting.has(group)) ignoreErrors(() => group.thaw())
    })
  }
}

/** The control group may not exist yet, or no longer. */
const ignoreErrors = (act: () => void): void => {
  try {
    act()
  } catch {}
}
