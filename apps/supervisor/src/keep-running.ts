/** Restarts a process whenever it ends by itself, with exponential backoff. */
import { type Clock, faultsArmed } from '@dock/foundation'
import type { Running } from './running.ts'

export type Kept = {
  /** The pid of the present process, or undefined if none runs. */
  pid(): number | undefined
  /** Number of consecutive ends soon after a start. */
  failures(): number
  /** Stops the process for good. */
  stop(): Promise<void>
}

const firstDelayMs = 200
/** Crash tests kill processes more often than servers fail, and would mostly wait for restarts. */
const longestDelayMs = faultsArmed ? firstDelayMs : 15_000
/** A process that ran this long counts as started well: its end resets the backoff. */
const settledMs = 5_000
/** A process that ran this long starts again at once: everybody is cut off until it does. */
const healthyMs = 60_000

/** Starts a process with `start` and restarts it when it ends. Rejects only if the first start fails. */
export async function keepRunning(
  name: string,
  start: () => Promise<Running>,
  clock: Clock,
  report: (text: string) => void,
): Promise<Kept> {
  let current: Running | undefined = await start()
  let startedAt = clock.now().getTime()
  let failures = 0
  let stopped = false
  let starting: Promise<void> = Promise.resolve()

  const scheduleStart = (wasHealthy = false): void => {
    const delayMs = wasHealthy ? 0 : Math.min(firstDelayMs * 2 ** failures, longestDelayMs)
    failures += 1
    clock.after(delayMs, () => {
      if (!stopped) starting = startAgain()
    })
  }
  const startAgain = async (): Promise<void> => {
    try {
      current = await start()
      startedAt = clock.now().getTime()
      watch(current)
    } catch (error) {
      report(`${name} could not be started: ${error instanceof Error ? error.message : String(error)}`)
      scheduleStart()
    }
  }
  const watch = (running: Running): void => {
    void running.ended.then((code) => {
      current = undefined
      if (stopped) return
      const ranMs = clock.now().getTime() - startedAt
      if (ranMs > settledMs) failures = 0
      report(`${name} ended (${code === null ? 'killed' : `exit code ${code}`}); restarting it`)
      scheduleStart(ranMs > healthyMs)
    })
  }
  watch(current)

  return {
    pid: () => current?.pid,
    failures: () => failures,
    stop: async () => {
      stopped = true
      await starting
      await current?.stop()
    },
  }
}
