/** What keys need without being asked: a ring with a new first key is taken into use, and rotations come to their end. */
import type { Logger } from '@dock/foundation'
import { createTimers } from '../engine/index.ts'
import { finishRotations, type RotationContext, rewrapDataKeys } from './rotate-keys.ts'

export type KeyUpkeep = {
  start(): void
  /** Resolves when nothing of it is under way. */
  stop(): Promise<void>
}

const everyMs = 3_600_000

export function createKeyUpkeep(context: RotationContext & { logger: Logger }): KeyUpkeep {
  const { logger } = context
  let underWay: Promise<void> = Promise.resolve()
  const run = async (): Promise<void> => {
    const rewrapped = await rewrapDataKeys(context)
    if (rewrapped > 0) logger.info({ rewrapped }, 'the first key of the ring wraps every data key now')
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
