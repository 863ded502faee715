/**
 * Recovers a Dock whose runtime is gone: boots it again from its own disk, on its host, with the next generation. After
 * three unexpected deaths within ten minutes, the next one moves the Dock to `error` with its disk kept. A runtime that
 * was ended on purpose or by a reboot of the machine does not count and causes no alert.
 */
import { isReadyDockState, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import { type LostRuntime, nextGeneration } from '../../hosts/index.ts'
import { heldAfterLoss } from '../boot/recovery-alerts.ts'
import type { StartData } from '../boot/start-data.ts'
import type { DockRow } from '../core/dock.ts'
import { claimDock } from '../core/dock-claim.ts'
import { commitDock } from '../core/dock-commit.ts'
import { hostnameOf } from '../core/dock-name.ts'
import { dockColumns } from '../core/dock-store.ts'
import { type DockContext, newDockOperation } from '../dock-context.ts'

const recoveriesMax = 3
const recoveryWindowMs = 10 * 60_000

/** Returns those of the Docks that no operation holds. */
export async function filterUnheld({ db }: DockContext, dockIds: readonly string[]): Promise<string[]> {
  return (
    await sql<{ id: string }>`select h.id from unnest(${dockIds}::uuid[]) as h(id)
      where not exists (select 1 from operations o where o.dock_id = h.id and o.status <> 'completed')`.execute(
      db,
    )
  ).rows.map(({ id }) => id)
}

/**
 * Boots the Dock again, or gives it up, if it is still on that host with the lost generation. Idempotent. Returns
 * `held: true` if an operation holds the Dock or has just changed it: call again later.
 */
export async function recoverDock(
  context: DockContext,
  { hostId, dockId, generation }: LostRuntime,
  died: boolean,
): Promise<{ held: boolean }> {
  const { rows } = await sql<DockRow>`select ${dockColumns} from docks d where d.id = ${dockId}`.execute(
    context.db,
  )
  const dock = rows[0]
  if (dock?.hostId !== hostId || dock.generation !== generation) return { held: false }
  // If its stop fails, the Dock must be booted again.
  if (dock.state === 'archiving') return { held: true }
  if (!isReadyDockState(dock.state) && dock.state !== 'unreachable') return { held: false }
  const since = context.clock.now().getTime() - recoveryWindowMs
  const recent = dock.recoveries.filter((at) => at.getTime() > since).length
  try {
    const isUnderWay =
      died && recent >= recoveriesMax ? await giveUp(context, dock) : await bootAgain(context, dock, died)
    return { held: !isUnderWay }
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'dock_busy')) throw error
    return { held: true }
  }
}

const giveUp = async ({ db, clock }: DockContext, dock: DockRow): Promise<boolean> => {
  const now = clock.now()
  const given = await commitDock(db, {
    dockId: dock.id,
    generation: dock.generation,
    moves: [{ from: dock.state, to: 'error', why: 'lost_for_good' }],
    cause: { by: 'host', through: 'recovery' },
    details: { held: 'died_too_often' },
    now,
    set: sql`ip = null, stop_at = null`,
    release: true,
    event: 'dock.error',
    also: [heldAfterLoss(dock, 'died_too_often', now)],
  })
  return given !== null
}

const bootAgain = async (context: DockContext, dock: DockRow, died: boolean): Promise<boolean> => {
  const { db, clock, runner } = context
  const { id, organizationId, hostId } = dock
  const generation = nextGeneration(dock.generation, context.epoch())
  const now = clock.now()
  const data: StartData = {
    dataVersion: 1,
    command: {
      hostname: hostnameOf(dock.name),
      cpus: dock.cpus,
      memoryMiB: dock.memoryMiB,
      diskGiB: dock.diskGiB,
      source: { kind: 'own' },
      newIdentity: false,
    },
    event: null,
    recovery: { died, name: dock.name },
  }
  const operation = newDockOperation({
    kind: 'recover',
    organizationId,
    dockId: id,
    hostId,
    generation,
    cause: { by: 'host', through: 'recovery', why: died ? 'died' : 'ended' },
    data,
  })
  // Only the newest deaths matter, so the list is kept short.
  const counted = sql`, recoveries = (d.recoveries || ${now}::timestamptz)[greatest(1, cardinality(d.recoveries) - 7):]`
  const claimed = await claimDock(db, {
    dock,
    operation,
    moves: [{ from: dock.state, to: 'provisioning', why: 'runtime_lost' }],
    set: sql`generation = ${generation}, ip = null ${died ? counted : sql``}`,
    lease: runner.lease(),
    now,
  })
  if (claimed !== 'claimed') return false
  void runner.run(operation)
  return true
}
