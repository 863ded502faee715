/** POST /v1/docks/:id/stop, and the stop that a ttl orders. */
import { type DockState, type ErrorCode, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { type Cause, unblockDock } from '../../../engine/index.ts'
import type { Visitor } from '../../accounts/index.ts'
import type { DockRow } from '../dock.ts'
import { claimDock } from '../dock-claim.ts'
import { causedBy, type DockContext, newDockOperation, requireDock } from '../dock-context.ts'
import { stoppableStates } from '../dock-state.ts'
import { dueDocks } from '../dock-store.ts'
import type { StopData } from '../workflows/stop-dock.ts'

export type DockStateAnswer = { id: string; state: DockState }

/** Stops a Dock and keeps its disk as a Snapshot; with `force`, without one. A second stop answers the state. */
export const stopDock = async (
  context: DockContext,
  caller: Visitor,
  id: string,
  body: { force: boolean },
): Promise<DockStateAnswer> =>
  stop(context, await requireDock(context, caller, id), body.force, causedBy(caller, 'stop'))

/** Stops every Dock whose ttl has run out. */
export const stopDueDocks = async (context: DockContext): Promise<void> => {
  const stopOne = async (dock: DockRow): Promise<void> => {
    try {
      await stop(context, dock, false, { by: 'ttl', through: 'timer', why: 'ttl' })
    } catch (error) {
      context.logger.warn({ dockId: dock.id, err: error }, 'stop by ttl failed')
    }
  }
  await Promise.all((await dueDocks(context.db, context.clock.now())).map(stopOne))
}

const stop = async (
  context: DockContext,
  dock: DockRow,
  force: boolean,
  cause: Cause,
): Promise<DockStateAnswer> => {
  const { id, state, hostId } = dock
  if (state === 'archived') return { id, state }
  if (state === 'archiving') {
    // Asked for anew, a stop that waits for its host is tried at once.
    if (await unblockDock(context.db, id, 'stop', context.clock.now())) context.runner.wake()
    return { id, state }
  }
  if (state === 'provisioning' || state === 'provisioned' || state === 'cloning')
    throw new ServiceError('dock_busy')
  const stoppable = stoppableStates.includes(state) || (state === 'error' && dock.hasDisk)
  if (!stoppable || hostId === null) throw new ServiceError('conflict')

  const { clock, runner, db } = context
  const now = clock.now()
  const snapshotId = force ? null : newUuid()
  const data: StopData = { hostId, snapshotId, previous: state }
  const { organizationId, generation } = dock
  const operation = newDockOperation({
    kind: 'stop',
    organizationId,
    dockId: id,
    hostId,
    generation,
    cause,
    data,
  })
  const claimed = await claimDock(db, {
    dock,
    operation,
    move: { from: state, to: 'archiving', why: cause.why === 'ttl' ? 'ttl' : 'stop' },
    also:
      snapshotId === null
        ? []
        : [
            sql`saving as (insert into snapshots
              (id, dock_id, organization_id, status, runtime, host_id, disk_gib, created_at)
              select ${snapshotId}::uuid, id, organization_id, 'saving', runtime, host_id, disk_gib,
                ${now}::timestamptz from moved)`,
          ],
    lease: runner.lease(),
    now,
  })
  if (claimed !== 'claimed') throw new ServiceError('dock_busy')
  const error = await runner.run(operation)
  if (error) throw new ServiceError(error.code as ErrorCode, { message: error.message })
  // Blocked: the host fell silent on the way, and the stop goes on when it is back.
  return { id, state: operation.status === 'completed' ? 'archived' : 'archiving' }
}
