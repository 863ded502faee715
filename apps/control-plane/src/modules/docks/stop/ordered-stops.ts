/**
 * Executes the stops that were ordered when accounts were closed. Each round reads the current state. A Dock that is
 * archived, in `error`, or was booted again since needs no stop. A Dock that is busy or whose host is silent is retried.
 */
import { ServiceError } from '@dock/contract'
import { createTimers } from '../../../engine/index.ts'
import { isHostLost } from '../../hosts/index.ts'
import { statesWithoutRuntime } from '../core/dock-state.ts'
import type { DockContext } from '../dock-context.ts'
import {
  deleteOrderedStop,
  type OrderedStop,
  orderLateStops,
  postponeOrderedStop,
  takeOrderedStops,
} from './ordered-stop-store.ts'
import { beginStop } from './stop-dock.ts'

export type OrderedStops = {
  /** Runs one round. Resolves when every due stop has begun. */
  run(): Promise<void>
  /** Starts a round without waiting for it. */
  wake(): void
  start(): void
  stop(): void
}

const everyMs = 5_000
const batch = 20
/** Backoff between attempts, because each failed capture costs the host work. */
const firstPauseMs = 60_000
const longestPauseMs = 3_600_000

export function createOrderedStops(context: DockContext): OrderedStops {
  const { db, clock, logger } = context

  const carryOut = async ({ dock, generation, orderedBy, attempts }: OrderedStop): Promise<void> => {
    if (dock.generation !== generation || statesWithoutRuntime.includes(dock.state))
      return deleteOrderedStop(db, dock.id)
    try {
      const cause = { by: `user:${orderedBy}`, through: 'timer', why: 'account closed' } as const
      // The user cannot force the stop any more, so a stop on a lost host is forced here.
      const isLost = dock.hostId !== null && (await isHostLost(db, dock.hostId))
      const begun = await beginStop(context, dock, cause, isLost)
      if (begun === 'archived') return deleteOrderedStop(db, dock.id)
      if (begun === 'changed') return
      const pauseMs = Math.min(firstPauseMs * 2 ** attempts, longestPauseMs)
      await postponeOrderedStop(db, dock.id, new Date(clock.now().getTime() + pauseMs))
    } catch (error) {
      // Another operation holds the Dock, or its host is silent. The next round tries again.
      if (error instanceof ServiceError && (error.code === 'dock_busy' || error.code === 'conflict')) return
      logger.warn(
        { dockId: dock.id, err: error },
        'ordered stop could not be started; the next round retries',
      )
    }
  }

  const run = async (): Promise<void> => {
    const now = clock.now()
    await orderLateStops(db, now)
    const until = new Date(now.getTime() + everyMs)
    for (const order of await takeOrderedStops(db, { now, until, limit: batch })) await carryOut(order)
  }
  const timers = createTimers({ clock, logger, tasks: [{ name: 'ordered stops', everyMs, run }] })
  return {
    run,
    wake: () =>
      void run().catch((error: unknown) =>
        logger.error({ err: error }, 'reading ordered stops failed; the next round retries'),
      ),
    start: timers.start,
    stop: timers.stop,
  }
}
