/**
 * Tracks which Docks are in use. A Dock is `running` while a session (a command or a terminal) lasts longer than 10
 * seconds, and becomes `idle` after 15 minutes without sessions. A shorter command changes no state. Its time is written
 * every 30 seconds, in one statement for all Docks.
 */
import type { DockCause, DockState } from '@dock/contract'
import type { Clock, Logger } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { DockRow } from '../core/dock.ts'
import { commitDock } from '../core/dock-commit.ts'
import { inactiveDocks, inactivePage, liveDocks, saveActivity } from './activity-store.ts'

const lastingMs = 10_000
const idleAfterMs = 15 * 60_000
/** How often {@link DockActivity.sweep} is to be called. */
export const activitySweepMs = 30_000
/** Sessions end with their process, so a session that was not renewed for three sweeps counts as over. */
const staleMs = 3 * activitySweepMs

/** Number of inactive Docks that are moved concurrently. */
const movesAtOnce = 4

export type DockActivity = {
  /** Starts a session in the Dock. Call the returned function when the session ends. */
  begin(dock: Pick<DockRow, 'id'>): () => void
  /** Writes recent activity, and moves Docks that became active or inactive. */
  sweep(): Promise<void>
  /** Resolves when all moves caused by sessions are done. */
  settled(): Promise<void>
}

export function createDockActivity(options: { db: Db; clock: Clock; logger: Logger }): DockActivity {
  const { db, clock, logger } = options
  /** Number of open sessions longer than 10 seconds, by Dock id. */
  const lasting = new Map<string, number>()
  /** Docks that were active since the last sweep. */
  const noted = new Set<string>()
  /** The latest pending move of each Dock. Moves of one Dock run one after the other. */
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

  /** Moves active Docks to the right state. A Dock that changes concurrently is left to the next sweep. */
  const settle = async (dockIds: readonly string[]): Promise<void> => {
    for (const dock of await liveDocks(db, dockIds)) {
      if (lasting.has(dock.id)) {
        if (dock.state !== 'running') await move(dock, 'running', 'activity')
      } else if (dock.state === 'running') await move(dock, 'ready', 'activity_ended')
      else if (dock.state === 'idle') await move(dock, 'ready', 'activity')
    }
  }

  /** Moves all inactive Docks, page by page. */
  const moveInactive = async (
    from: 'ready' | 'running',
    since: Date,
    to: DockState,
    why: DockCause,
  ): Promise<void> => {
    let last: { activeAt: Date; id: string } | null = null
    for (;;) {
      const page: Awaited<ReturnType<typeof inactiveDocks>> = await inactiveDocks(db, from, since, last)
      const left = [...page]
      const work = async (): Promise<void> => {
        for (let dock = left.shift(); dock; dock = left.shift()) await move(dock, to, why)
      }
      await Promise.all(Array.from({ length: movesAtOnce }, work))
      last = page.at(-1) ?? null
      if (page.length < inactivePage) return
    }
  }

  const follow = (dockId: string): void => {
    const before = moving.get(dockId) ?? Promise.resolve()
    const after = before
      .then(() => settle([dockId]))
      .catch((error: unknown) =>
        logger.warn({ dockId, err: error }, 'recording activity failed; the next sweep retries'),
      )
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
      await moveInactive('running', since(staleMs), 'ready', 'activity_ended')
      await moveInactive('ready', since(idleAfterMs), 'idle', 'inactivity')
    },
    settled: async () => {
      while (moving.size > 0) await Promise.all(moving.values())
    },
  }
}
