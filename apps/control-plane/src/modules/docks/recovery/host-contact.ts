/**
 * Updates Docks when their host stops responding or returns. A silent host may still run its Docks. They become
 * `unreachable` and are not started anywhere else until the host reports their state.
 */
import { sql } from 'kysely'
import { stoppedResponding } from '../boot/recovery-alerts.ts'
import type { DockRow } from '../core/dock.ts'
import { commitDock } from '../core/dock-commit.ts'
import { readyStates } from '../core/dock-state.ts'
import { dockColumns } from '../core/dock-store.ts'
import type { DockContext } from '../dock-context.ts'

const cause = { by: 'host', through: 'host' } as const

type Context = Pick<DockContext, 'db' | 'clock'>

/** Marks the Docks on offline hosts `unreachable`, except those that an operation holds. */
export async function markDocksUnreachable({ db, clock }: Context): Promise<void> {
  const { rows } = await sql<DockRow>`
    select ${dockColumns} from docks d join hosts h on h.id = d.host_id
    where h.state = 'offline' and d.state in (${readyStates})
      and not exists (select 1 from operations o where o.dock_id = d.id and o.status <> 'completed')`.execute(
    db,
  )
  for (const dock of rows) {
    const now = clock.now()
    await commitDock(db, {
      dockId: dock.id,
      generation: dock.generation,
      moves: [{ from: dock.state, to: 'unreachable', why: 'host_silent' }],
      cause,
      now,
      // Locks the host until the commit, so that a returning host sees the change either completed or never made.
      given: sql`select 1 from hosts where id = ${dock.hostId} and state = 'offline' for share`,
      also: [stoppedResponding(dock, now)],
    })
  }
}

/**
 * Returns an unreachable Dock to `idle` or `ready`, because its host reports that it still runs. Activity moves it on to
 * `running` if necessary.
 */
export async function markDockReachable(
  { db, clock, ttl }: Context & Pick<DockContext, 'ttl'>,
  dockId: string,
): Promise<void> {
  const { rows } = await sql<{ generation: number; before: string | null }>`
    select d.generation, (select c.from_state from dock_state_changes c where c.dock_id = d.id order by c.id desc limit 1)
      as before from docks d where d.id = ${dockId} and d.state = 'unreachable'`.execute(db)
  const dock = rows[0]
  if (!dock) return
  const now = clock.now()
  const back = await commitDock(db, {
    dockId,
    generation: dock.generation,
    moves: [{ from: 'unreachable', to: dock.before === 'idle' ? 'idle' : 'ready', why: 'host_back' }],
    cause,
    now,
  })
  // The ttl may have run out while the Dock was unreachable, so the ttl clock looks at once.
  if (back && back.ttlSeconds !== null) ttl.note(now)
}

/**
 * Updates the rows of Docks whose own host has a later generation, which happens after a database restore: the
 * host has the newest state. Docks that an operation holds are skipped until it completes.
 */
export async function catchUpGenerations(
  { db, clock, logger }: Context & Pick<DockContext, 'logger'>,
  hostId: string,
  docks: readonly { dockId: string; generation: number; ip: string | null }[],
): Promise<void> {
  const caughtUp = await sql<{ id: string; generation: number }>`
    update docks d set generation = r.generation, ip = r.ip, updated_at = ${clock.now()}
    from jsonb_to_recordset(${JSON.stringify(docks)}::jsonb) as r("dockId" uuid, generation integer, ip text)
    where d.id = r."dockId" and d.host_id = ${hostId} and d.generation < r.generation
      and not exists (select 1 from operations o where o.dock_id = d.id and o.status <> 'completed')
    returning d.id, d.generation`.execute(db)
  for (const { id, generation } of caughtUp.rows)
    logger.warn(
      { hostId, dockId: id, generation },
      'the host has a later generation of this Dock than the database; the database was updated',
    )
}
