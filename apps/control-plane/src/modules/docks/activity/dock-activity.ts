/**
 * Which Docks are in use. `running`: a session (a command, a terminal) has lasted ten seconds; `idle`: none for fifteen
 * minutes. A shorter command changes no state and writes nothing itself: that it was there is noted with all others,
 * every half minute.
 */
import type { DockCause, DockState } from '@dock/contract'
import type { Clock, Logger } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { DockRow } from '../core/dock.ts'
import { commitDock } from '../core/dock-commit.ts'
import { liveDocks, quietDocks, quietPage, saveActivity } from './activity-store.ts'

const lastingMs = 10_000
const idleAfterMs = 15 * 60_000
/** How often {@link DockActivity.sweep} is to be called. */
export const activitySweepMs = 30_000
/** Sessions end with their process: what nobody has renewed for three sweeps is over. */
const staleMs = 3 * activitySweepMs

/** Docks that are moved at a time after they fell quiet. */
const movesAtOnce = 4

export type DockActivity = {
  /** A session in the Dock begins; the answer ends it. */
  begin(dock: Pick<DockRow, 'id'>): () => void
  /** Writes what was active, and moves what fell quiet or came to life again. */
  sweep(): Promise<void>
  /** Resolves when no move that a session caused is under way. */
  settled(): Promise<void>
}

export function createDockActivity(options: { db: Db; clock: Clock; logger: Logger }): DockActivity {
  const { db, clock, logger } = options
  /** Sessions that have lasted, by Dock. */
  const lasting = new Map<string, number>()
  /** Active since the last sweep. */
  const noted = new Set<string>()
  /** The last move of each Dock that is under way: one follows the other. */
  const moving = new Map<string, Promise<void>>()

  const move = (dock: DockRow, to: DockState, why: DockCause): Promise<unknown> =>
    commitDock(db, {
      dockId: dock.id,
      generation: dock.generation,
      moves: [{ from: dock.state, to, why }],
      cause: { by: 'activity', through: 'timer' },
      now: clock.now(),
      ...(to === 'running' ? { set: sql`active_at = ${clock.now()}` } : {}),
    })

  /** Brings Docks that were active to the state that they are in. One that changes meanwhile is left to the next sweep. */
  const settle = async (dockIds: readonly string[]): Promise<void> => {
    for (const dock of await liveDocks(db, dockIds)) {
      if (lasting.has(dock.id)) {
        if (dock.state !== 'running') await move(dock, 'running', 'activity')
      } else if (dock.state === 'running') await move(dock, 'ready', 'activity_ended')
      else if (dock.state === 'idle') await move(dock, 'ready', 'activity')
    }
  }

  /** Moves every Dock that fell quiet, however many there are. */
  const moveQuiet = async (
    from: 'ready' | 'running',
    since: Date,
    to: DockState,
    why: DockCause,
  ): Promise<void> => {
    let last: { activeAt: Date; id: string } | null = null
    for (;;) {
      const page: Awaited<ReturnType<typeof quietDocks>> = await quietDocks(db, from, since, last)
      const left = [...page]
      const work = async (): Promise<void> => {
        for (let dock = left.shift(); dock; dock = left.shift()) await move(dock, to, why)
      }
      await Promise.all(Array.from({ length: movesAtOnce }, work))
      last = page.at(-1) ?? null
      if (page.length < quietPage) return
    }
  }

  const follow = (dockId: string): void => {
    const before = moving.get(dockId) ?? Promise.resolve()
    const after = before
      .then(() => settle([dockId]))
      .catch((error: unknown) => logger.warn({ dockId, err: error }, 'activity not recorded'))
      .finally(() => {
        if (moving.get(dockId) === after) moving.delete(dockId)
      })
    moving.set(dockId, after)
  }

  const count = (dockId: string, by: 1 | -1): void => {
    const open = (lasting.get(dockId) ?? 0) + by
    if (open > 0) lasting.set(dockId, open)
    else lasting.delete(dockId)
    const changed = by === 1 ? open === 1 : open === 0
    if (changed) follow(dockId)
  }

  return {
    begin: ({ id }) => {
      let lasts = false
      let isOver = false
      const cancel = clock.after(lastingMs, () => {
        lasts = true
        count(id, 1)
      })
      return () => {
        if (isOver) return
        isOver = true
        cancel()
        noted.add(id)
        if (lasts) count(id, -1)
      }
    },
    sweep: async () => {
      const now = clock.now()
      const active = [...new Set([...noted, ...lasting.keys()])]
      noted.clear()
      if (active.length > 0) {
        await saveActivity(db, active, now)
        await settle(active)
      }
      const since = (ms: number): Date => new Date(now.getTime() - ms)
      await moveQuiet('running', since(staleMs), 'ready', 'activity_ended')
      await moveQuiet('ready', since(idleAfterMs), 'idle', 'inactivity')
    },
    settled: async () => {
      while (moving.size > 0) await Promise.all(moving.values())
    },
  }
}
