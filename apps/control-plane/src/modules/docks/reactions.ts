/** What happens to Docks when their host falls silent, comes back, or has lost a runtime. */
import { isReadyDockState } from '@dock/contract'
import { sql } from 'kysely'
import { type Cause, LeaseLost } from '../../engine/index.ts'
import type { DockReactions } from '../hosts/index.ts'
import type { DockRow } from './dock.ts'
import { claimDock } from './dock-claim.ts'
import { commitDock } from './dock-commit.ts'
import { type DockContext, newDockOperation } from './dock-context.ts'
import { hostnameOf } from './dock-name.ts'
import { dockColumns } from './dock-store.ts'
import type { StartData } from './workflows/start-dock.ts'

const recoveriesMax = 3
const recoveryWindowMs = 10 * 60_000

export const createDockReactions = (context: DockContext): DockReactions => {
  const { db, clock } = context
  const cause = { by: 'host', through: 'host' } as const

  /** Docks of one host: these reactions serve every tenant on it. */
  const settledDocks = async (hostId: string): Promise<DockRow[]> =>
    (
      await sql<DockRow>`select ${dockColumns} from docks d where d.host_id = ${hostId}
        and d.state in ('ready', 'idle', 'running')
        and not exists (select 1 from operations o where o.dock_id = d.id and o.status <> 'completed')`.execute(
        db,
      )
    ).rows
  const dockById = async (id: string): Promise<DockRow | null> =>
    (await sql<DockRow>`select ${dockColumns} from docks d where d.id = ${id}`.execute(db)).rows[0] ?? null

  const giveUp = async (dock: DockRow): Promise<void> => {
    await commitDock(db, {
      dockId: dock.id,
      generation: dock.generation,
      moves: [{ from: dock.state, to: 'error', why: 'lost_for_good' }],
      cause,
      now: clock.now(),
      set: sql`ip = null, stop_at = null`,
      release: true,
    })
  }

  const bootAgain = async (dock: DockRow, died: boolean): Promise<void> => {
    const generation = dock.generation + 1
    const { organizationId, hostId, id } = dock
    const data: StartData = {
      command: {
        hostname: hostnameOf(dock.name),
        cpus: dock.cpus,
        memoryMiB: dock.memoryMiB,
        diskGiB: dock.diskGiB,
        source: { kind: 'own' },
        newIdentity: false,
      },
      ttlSeconds: dock.ttlSeconds,
      event: null,
    }
    const why: Cause = { by: 'host', through: 'recovery', why: died ? 'died' : 'ended' }
    const operation = newDockOperation({
      kind: 'recover',
      organizationId,
      dockId: id,
      hostId,
      generation,
      cause: why,
      data,
    })
    const now = clock.now()
    const claimed = await claimDock(db, {
      dock,
      operation,
      move: { from: dock.state, to: 'provisioning', why: 'runtime_lost' },
      set: sql`generation = ${generation} ${died ? sql`, recoveries = d.recoveries[greatest(1, cardinality(d.recoveries) - 8):] || ${now}::timestamptz` : sql``}`,
      lease: context.runner.lease(),
      now,
    })
    if (claimed === 'claimed')
      context.runner.run(operation).catch((error: unknown) => {
        if (!(error instanceof LeaseLost))
          context.logger.warn({ dockId: id, err: error }, 'recovery interrupted')
      })
  }

  return {
    hostSilent: async (hostId) => {
      for (const dock of await settledDocks(hostId))
        await commitDock(db, {
          dockId: dock.id,
          generation: dock.generation,
          moves: [{ from: dock.state, to: 'unreachable', why: 'host_silent' }],
          cause,
          now: clock.now(),
        })
    },
    hostBack: async ({ id }) => {
      const dock = await dockById(id)
      if (dock?.state !== 'unreachable') return
      await commitDock(db, {
        dockId: id,
        generation: dock.generation,
        moves: [{ from: 'unreachable', to: 'ready', why: 'host_back' }],
        cause,
        now: clock.now(),
      })
    },
    sampled: (hostId, samples) => context.usage.record(hostId, samples),
    recover: async (dockId, generation, died) => {
      const dock = await dockById(dockId)
      if (!dock || dock.generation !== generation || dock.hostId === null) return
      if (!isReadyDockState(dock.state) && dock.state !== 'unreachable') return
      const since = clock.now().getTime() - recoveryWindowMs
      const recent = dock.recoveries.filter((at) => at.getTime() > since).length
      if (died && recent >= recoveriesMax) await giveUp(dock)
      else
        await bootAgain(dock, died).catch((error: unknown) => {
          // Another operation holds it, and knows better what becomes of it.
          context.logger.info({ dockId, err: error }, 'no recovery now')
        })
    },
  }
}
