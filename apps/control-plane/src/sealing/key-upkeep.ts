/** Periodic work on keys: rewraps data keys after the ring has a new first key, and finishes rotations. */
import type { Logger } from '@dock/foundation'
import { createTimers } from '../engine/index.ts'
import { finishRotations, type RotationContext, rewrapDataKeys } from './rotate-keys.ts'

export type KeyUpkeep = {
  start(): void
  /** Resolves when no run is in progress. */
  stop(): Promise<void>
}

const everyMs = 3_600_000

export function createKeyUpkeep(context: RotationContext & { logger: Logger }): KeyUpkeep {
  const { logger } = context
  let underWay: Promise<void> = Promise.resolve()
  const run = async (): Promise<void> => {
    const rewrapped = await rewrapDataKeys(context)
    if (rewrapped > 0) logger.info({ rewrapped }, 'the first key of the ring now wraps every data key')
    await finishRotations(context)
  }
  const begin = (): Promise<void> => {
    underWay = underWay.catch(() => undefined).then(run)
    return underWay
  }
  const timers = createTimers({
    clock: context.clock,
    logger,
    tasks: [{ name: 'key upkeep', everyMs, run: begin }],
  })
  return {
    start: () => {
      timers.start()
      begin().catch((error: unknown) => logger.error({ err: error }, 'key upkeep failed'))
    },
    stop: async () => {
      timers.stop()
      await underWay.catch(() => undefined)
    },
  }
}
