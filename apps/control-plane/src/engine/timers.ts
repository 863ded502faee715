/** Periodic tasks. Each run reads the current state again, so an extra run is harmless. */
import type { Clock, Logger } from '@dock/foundation'

export type Timers = { start(): void; stop(): void }

/** Maximum wait for a first run. Otherwise an instance that restarts each day would never do the work of a day. */
const firstDelayMaxMs = 300_000

/**
 * Runs each task `everyMs` after the end of its previous run. The first run is `everyMs` after start, but at most five
 * minutes. Failures are logged.
 */
export function createTimers(options: {
  clock: Clock
  logger: Logger
  tasks: readonly { name: string; everyMs: number; run(): Promise<void> }[]
}): Timers {
  const cancels = new Map<string, () => void>()
  let started = false
  const plan = (task: (typeof options.tasks)[number], delayMs: number): void => {
    if (!started) return
    const cancel = options.clock.after(delayMs, () => {
      task
        .run()
        .catch((error: unknown) => options.logger.error({ err: error, task: task.name }, 'timer task failed'))
        .finally(() => plan(task, task.everyMs))
    })
    cancels.set(task.name, cancel)
  }
  return {
    start: () => {
      started = true
      for (const task of options.tasks) plan(task, Math.min(task.everyMs, firstDelayMaxMs))
    },
    stop: () => {
      started = false
      for (const cancel of cancels.values()) cancel()
      cancels.clear()
    },
  }
}
