/** Periodic tasks. Each run reads the current state again, so an extra run is harmless. */
import type { Clock, Logger } from '@dock/foundation'

export type Timers = { start(): void; stop(): void }

/** Runs each task `everyMs` after start and after the end of its previous run. Failures are logged. */
export function createTimers(options: {
  clock: Clock
  logger: Logger
  tasks: readonly { name: string; everyMs: number; run(): Promise<void> }[]
}): Timers {
  const cancels = new Map<string, () => void>()
  let started = false
  const plan = (task: (typeof options.tasks)[number]): void => {
    if (!started) return
    const cancel = options.clock.after(task.everyMs, () => {
      task
        .run()
        .catch((error: unknown) => options.logger.error({ err: error, task: task.name }, 'timer task failed'))
        .finally(() => plan(task))
    })
    cancels.set(task.name, cancel)
  }
  return {
    start: () => {
      started = true
      for (const task of options.tasks) plan(task)
    },
    stop: () => {
      started = false
      for (const cancel of cancels.values()) cancel()
      cancels.clear()
    },
  }
}
