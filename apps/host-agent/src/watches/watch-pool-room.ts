/**
 * The pool guard: checks the disk pool every 50 ms. It freezes every Dock when free space falls to the reserve, and thaws
 * them when there is room again. If the kernel made the pool read-only, the Docks stay frozen and the agent must mount it
 * again.
 */
import type { Clock, Logger } from '@dock/foundation'
import type { DiskPool } from '../disks/pool.ts'
import type { Freezer } from '../sandboxes/freezer.ts'

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
  disks: Pick<DiskPool, 'room' | 'isReadOnly'>
  freezer: Freezer
  clock: Clock
  logger: Logger
  /** Called when a read-only pool has room again, so that mounting it can succeed. May be called more than once. */
  onReadOnly(): void
}): PoolRoomWatch {
  const { disks, freezer, clock, logger, onReadOnly } = parts

  let acting: Promise<void> | undefined
  let wasReadOnly = false

  const checkRoom = async (): Promise<void> => {
    const { freeBytes, reserveBytes } = disks.room()
    const isReadOnly = disks.isReadOnly()
    const { isGuarding } = freezer
    const isFull = freeBytes <= (isGuarding ? reserveBytes * roomAgain : reserveBytes)
    const isUnusable = isFull || isReadOnly
    if (!isUnusable && !isGuarding) return
    if (isReadOnly && !wasReadOnly) {
      logger.error('the disk pool is read-only: every Dock is frozen until there is room to mount it again')
    } else if (isUnusable && !isGuarding) {
      logger.error(
        { freeBytes, reserveBytes },
        'the disk pool is full: every Dock is frozen until there is room',
      )
    } else if (!isUnusable) {
      logger.warn({ freeBytes, reserveBytes }, 'the disk pool has room again: the Docks are thawed')
    }
    wasReadOnly = isReadOnly
    // Repeat this while the guard is on, to retry sandboxes that could not be frozen.
    acting ??= freezer.setGuarding(isUnusable).finally(() => {
      acting = undefined
    })
    await acting
    if (isReadOnly && !isFull) onReadOnly()
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
