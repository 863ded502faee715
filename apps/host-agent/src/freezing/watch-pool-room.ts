/**
 * The pool guard: checks the disk pool every 50 ms. It freezes every Dock when free space falls to the reserve, and thaws
 * them when there is room again.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { DiskPool } from '../docks/host-resources.ts'
import type { Freezer } from './freezer.ts'

const lookMs = 50
/** Factor of the reserve. Thawing at more free space than freezing avoids oscillation. */
const roomAgain = 1.25

export type PoolRoomWatch = {
  /** Checks once. On return every Dock is frozen if it must be. */
  checkRoom(): Promise<void>
  /** Starts checking periodically. Returns a function that stops it. */
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

  const checkRoom = async (): Promise<void> => {
    const { freeBytes, reserveBytes } = disks.room()
    const { isGuarding } = freezer
    const isFull = freeBytes <= (isGuarding ? reserveBytes * roomAgain : reserveBytes)
    if (!isFull && !isGuarding) return
    if (isFull && !isGuarding) {
      logger.error(
        { freeBytes, reserveBytes },
        'the disk pool is full: every Dock is frozen until there is room',
      )
    } else if (!isFull) {
      logger.warn({ freeBytes, reserveBytes }, 'the disk pool has room again: the Docks are thawed')
    }
    // Repeat this while the guard is on, to retry sandboxes that could not be frozen.
    acting ??= freezer.setGuarding(isFull).finally(() => {
      acting = undefined
    })
    await acting
  }

  return {
    checkRoom,
    start: () => {
      let cancel = () => {}
      const again = (): void => {
        checkRoom().catch((error: unknown) =>
          logger.error({ err: error }, 'could not read the free space of the disk pool'),
        )
        cancel = clock.after(lookMs, again)
      }
      again()
      return () => cancel()
    },
  }
}
