/**
 * Freezes idle Docks: an idle sandbox needs little memory but a few percent of a core. A Dock stays awake while a process
 * other than the platform's own runs in it, or while a command, a process or a port is in use.
 */
import type { Clock, Logger } from '@dock/foundation'
import { type RuntimeDriver, SandboxGone } from '@dock/runtime'
import type { BootQueue } from '../sandboxes/boot-queue.ts'
import type { IdleSandbox } from '../sandboxes/dock-state.ts'
import type { Freezer } from '../sandboxes/freezer.ts'

/** Short, because many new Docks may be created at once and an unused one costs as much as any other. */
const unusedIdleMs = 1_000
const usedIdleMs = 5_000
/** Even shorter while other Docks boot and need the processors. Thawing takes a fraction of a millisecond. */
const idleWhileBootingMs = 250
/** How long to wait before checking a Dock again that had processes of its user. */
const busyPauseMs = 5_000
const tickMs = 500

type WatchedDock = { readonly idle: IdleSandbox | null }

/** Starts the watch and returns a function that stops it. Does nothing if the driver cannot freeze. */
export function watchIdle(parts: {
  docks: { live(): Iterable<WatchedDock> }
  driver: Pick<RuntimeDriver, 'processes' | 'capabilities'>
  freezer: Freezer
  bootQueue: Pick<BootQueue, 'isCalm'>
  clock: Clock
  logger: Logger
}): () => void {
  const { docks, driver, freezer, bootQueue, clock, logger } = parts
  if (!driver.capabilities.freezing) return () => {}
  const nextCheck = new WeakMap<WatchedDock, number>()
  const checking = new WeakSet<WatchedDock>()

  const freezeIfIdle = async (dock: WatchedDock, { sandbox, since }: IdleSandbox): Promise<void> => {
    const processes = await driver.processes(sandbox)
    if (processes.some(({ isPlatform }) => !isPlatform)) {
      nextCheck.set(dock, clock.now().getTime() + busyPauseMs)
      return
    }
    // The Dock may have been used since the process list was read. There is no await between this check and the freeze.
    if (dock.idle?.since !== since) return
    await freezer.freeze(sandbox, 'idle')
  }

  const idleMs = ({ wasUsed }: IdleSandbox): number => {
    if (!bootQueue.isCalm) return idleWhileBootingMs
    return wasUsed ? usedIdleMs : unusedIdleMs
  }

  const tick = (): void => {
    const now = clock.now().getTime()
    for (const dock of docks.live()) {
      const { idle } = dock
      if (!idle || checking.has(dock) || freezer.shouldBeFrozen(idle.sandbox)) continue
      const due = idle.since + idleMs(idle)
      if (now < Math.max(due, nextCheck.get(dock) ?? 0)) continue
      checking.add(dock)
      freezeIfIdle(dock, idle)
        .catch((error: unknown) => {
          if (error instanceof SandboxGone) return
          nextCheck.set(dock, clock.now().getTime() + busyPauseMs)
          logger.warn({ err: error }, 'could not check or freeze an idle Dock')
        })
        .finally(() => checking.delete(dock))
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
