/** Starts something again whenever it ends by itself, more slowly each time. */
import type { Clock } from '@dock/foundation'
import type { Running } from './running.ts'

export type Kept = {
  /** The process that runs now, if one does. */
  pid(): number | undefined
  /** How often in a row it ended soon after its start. */
  failures(): number
  /** Ends it for good. */
  stop(): Promise<void>
}

const firstDelayMs = 200
const longestDelayMs = 15_000
/** Whoever ran this long has started well: the next end counts as the first. */
const settledMs = 5_000

/** Runs `start` and keeps what it answers running. Rejects only when the very first start does. */
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

  const scheduleStart = (): void => {
    const delayMs = Math.min(firstDelayMs * 2 ** failures, longestDelayMs)
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
      if (clock.now().getTime() - startedAt > settledMs) failures = 0
      report(`${name} ended (${code === null ? 'killed' : `exit code ${code}`}); starting it again`)
      scheduleStart()
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
