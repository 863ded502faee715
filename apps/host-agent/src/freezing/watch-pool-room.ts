/**
 * The pool guard: looks at the pool of disks many times a second, stops every Dock while what is free is down to the
 * reserve, and lets them go on when there is room again.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { DiskPool } from '../docks/seams.ts'
import type { Freezer } from './freezer.ts'

const lookMs = 50
/** Of the reserve; above it, so that the Docks do not stop and go at the edge. */
const roomAgain = 1.25

export type PoolRoomWatch = {
  /** Looks once; on return every Dock stands still if it must. */
  look(): Promise<void>
  /** Looks from now on. The answer ends it. */
  start(): () => void
}

export function watchPoolRoom(parts: {
  disks: Pick<DiskPool, 'room'>
  freezer: Freezer
  clock: Clock
  logger: Logger
}): PoolRoomWatch {
  const { disks, freezer, clock, logger } = parts

  let acting: Promise<void> | undefined

  const look = async (): Promise<void> => {
    const { freeBytes, reserveBytes } = disks.room()
    const { isGuarding } = freezer
    const isFull = freeBytes <= (isGuarding ? reserveBytes * roomAgain : reserveBytes)
    if (!isFull && !isGuarding) return
    if (isFull && !isGuarding) {
      logger.error({ freeBytes, reserveBytes }, 'the pool of disks is full: every Dock stands still')
    } else if (!isFull) {
      logger.warn({ freeBytes, reserveBytes }, 'the pool of disks has room again: the Docks go on')
    }
    // Also while it is in force: one that could not be frozen at once is tried again.
    acting ??= freezer.guard(isFull).finally(() => {
      acting = undefined
    })
    await acting
  }

  return {
    look,
    start: () => {
      let cancel = () => {}
      const again = (): void => {
        look().catch((error: unknown) => logger.error({ err: error }, 'the room of the pool is not known'))
        cancel = clock.after(lookMs, again)
      }
      again()
      return () => cancel()
    },
  }
}
