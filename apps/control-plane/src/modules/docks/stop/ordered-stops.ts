/**
 * Carries out the stops that closed accounts have ordered. Each round reads the truth afresh: a Dock that is archived,
 * broken or booted anew since needs no stop any more; one that is busy or whose host is silent is tried again.
 */
import { ServiceError } from '@dock/contract'
import { createTimers } from '../../../engine/index.ts'
import { isHostLost } from '../../hosts/index.ts'
import { standingStates } from '../core/dock-state.ts'
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
  /** One round; resolves when every due stop has begun. */
  run(): Promise<void>
  /** Begins a round at once, without waiting for it. */
  wake(): void
  start(): void
  stop(): void
}

const everyMs = 5_000
const batch = 20
/** Between tries of a stop that was refused: a capture that fails costs the host. */
const firstPauseMs = 60_000
const longestPauseMs = 3_600_000

export function createOrderedStops(context: DockContext): OrderedStops {
  const { db, clock, logger } = context

  const carryOut = async ({ dock, generation, orderedBy, attempts }: OrderedStop): Promise<void> => {
    if (dock.generation !== generation || standingStates.includes(dock.state))
      return deleteOrderedStop(db, dock.id)
    try {
      const cause = { by: `user:${orderedBy}`, through: 'timer', why: 'account closed' } as const
      // Nobody is left who could wait for a lost host, or give up what is on it.
      const isLost = dock.hostId !== null && (await isHostLost(db, dock.hostId))
      const begun = await beginStop(context, dock, cause, isLost)
      if (begun === 'archived') return deleteOrderedStop(db, dock.id)
      if (begun === 'changed') return
      const pauseMs = Math.min(firstPauseMs * 2 ** attempts, longestPauseMs)
      await postponeOrderedStop(db, dock.id, new Date(clock.now().getTime() + pauseMs))
    } catch (error) {
      // Busy with another operation, or its host is silent: the next round sees what became of it.
      if (error instanceof ServiceError && (error.code === 'dock_busy' || error.code === 'conflict')) return
      logger.warn({ dockId: dock.id, err: error }, 'ordered stop not begun')
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
    wake: () => void run().catch((error: unknown) => logger.error({ err: error }, 'ordered stops not read')),
    start: timers.start,
    stop: timers.stop,
  }
}
