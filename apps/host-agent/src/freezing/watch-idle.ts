/**
 * Freezes Docks in which nothing of their user's runs: an idle sandbox costs little memory but some percent of a core.
 * A process of whatever user keeps its Dock awake; so does a command, a terminal or a port in use.
 */
import type { Clock, Logger } from '@dock/foundation'
import { type RuntimeDriver, SandboxGone } from '@dock/runtime'
import type { BootTurns } from '../docks/boot-turns.ts'
import type { IdleSandbox } from '../docks/dock-state.ts'
import type { Freezer } from './freezer.ts'

/** A new Dock that nobody has used yet costs as much as any, and many are made at once. */
const unusedRestMs = 1_000
const usedRestMs = 5_000
/** While others boot, the processors are theirs: being thawed again takes a fraction of a millisecond. */
const restBesideBootsMs = 250
/** A Dock with processes of its user is looked at again only after this. */
const busyPauseMs = 5_000
const tickMs = 500

type Resting = { readonly resting: IdleSandbox | null }

/** Watches the Docks from now on; the answer ends it. A driver that cannot freeze or list processes is left alone. */
export function watchIdle(parts: {
  docks: { live(): Iterable<Resting> }
  driver: Pick<RuntimeDriver, 'processes' | 'freeze'>
  freezer: Freezer
  turns: Pick<BootTurns, 'isCalm'>
  clock: Clock
  logger: Logger
}): () => void {
  const { docks, driver, freezer, turns, clock, logger } = parts
  if (!driver.freeze || !driver.processes) return () => {}
  const nextLook = new WeakMap<Resting, number>()
  const looking = new WeakSet<Resting>()

  const look = async (dock: Resting, { sandbox, since }: IdleSandbox): Promise<void> => {
    const processes = (await driver.processes?.(sandbox)) ?? []
    if (processes.some(({ isPlatform }) => !isPlatform)) {
      nextLook.set(dock, clock.now().getTime() + busyPauseMs)
      return
    }
    // Used meanwhile: what was seen is old. From here to the freeze nothing can come between.
    if (dock.resting?.since !== since) return
    await freezer.freeze(sandbox, 'idle')
  }

  const restMs = ({ wasUsed }: IdleSandbox): number => {
    if (!turns.isCalm) return restBesideBootsMs
    return wasUsed ? usedRestMs : unusedRestMs
  }

  const tick = (): void => {
    const now = clock.now().getTime()
    for (const dock of docks.live()) {
      const { resting } = dock
      if (!resting || looking.has(dock) || freezer.holds(resting.sandbox)) continue
      const due = resting.since + restMs(resting)
      if (now < Math.max(due, nextLook.get(dock) ?? 0)) continue
      looking.add(dock)
      look(dock, resting)
        .catch((error: unknown) => {
          if (error instanceof SandboxGone) return
          nextLook.set(dock, clock.now().getTime() + busyPauseMs)
          logger.warn({ err: error }, 'a Dock could not be looked at or frozen')
        })
        .finally(() => looking.delete(dock))
    }
  }

  let cancel = () => {}
  const again = (): void => {
    cancel = clock.after(tickMs, () => {
      tick()
      again()
    })
  }
  again()
  return () => cancel()
}
