/** POST /v1/docks/:id/stop, and the stop that a ttl orders. */
import { type DockState, type ErrorCode, roleReaches, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { type Cause, type OperationRow, unblockDock } from '../../../engine/index.ts'
import { retentionEnabled, type Visitor } from '../../accounts/index.ts'
import { isHostLost, saveCaptureOrders } from '../../hosts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { claimDock } from '../core/dock-claim.ts'
import { stoppableStates } from '../core/dock-state.ts'
import { dockCaptures, dueDocks } from '../core/dock-store.ts'
import { causedBy, type DockContext, newDockOperation, requireDock } from '../dock-context.ts'
import type { StopData } from './stop-saga.ts'

/** How often a stop is tried on a Dock whose state changes under it. */
const claimAttempts = 3

export type DockStateAnswer = { id: string; state: DockState }

/** Stops a Dock and keeps its disk as a Snapshot; with `force`, without one. A second stop answers the state. */
export async function stopDock(
  context: DockContext,
  caller: Visitor,
  id: string,
  body: { force: boolean },
): Promise<DockStateAnswer> {
  for (let attempt = 1; ; attempt++) {
    const dock = await requireDock(context, caller, id)
    const wipes = await wipesData(context, dock)
    if (wipes && !body.force && dock.createdBy !== caller.userId && !roleReaches(dock.role, 'admin'))
      throw new ServiceError('dock_delete_forbidden')
    const claimed = await claimStop(context, dock, { force: body.force, wipes }, causedBy(caller, 'stop'))
    if (claimed !== 'changed') return 'state' in claimed ? claimed : runStop(context, claimed)
    // It became idle, or busy, this moment.
    if (attempt === claimAttempts) throw new ServiceError('dock_busy')
  }
}

/** Begins to stop every Dock whose ttl has run out. One that is slow to stop keeps no other waiting. */
export async function stopDueDocks(context: DockContext): Promise<void> {
  for (const dock of await dueDocks(context.db, context.clock.now())) {
    try {
      await beginStop(context, dock, { by: 'ttl', through: 'timer', why: 'ttl' })
    } catch (error) {
      context.logger.warn({ dockId: dock.id, err: error }, 'stop by ttl failed')
    }
  }
}

/** Begins to stop a Dock for the platform itself, and returns what the Dock does then. */
export async function beginStop(
  context: DockContext,
  dock: DockRow,
  cause: Cause,
  force = false,
): Promise<'archived' | 'archiving' | 'changed'> {
  const wipes = await wipesData(context, dock)
  const claimed = await claimStop(context, dock, { force, wipes }, cause)
  if (claimed === 'changed') return 'changed'
  if ('state' in claimed) return claimed.state === 'archived' ? 'archived' : 'archiving'
  runStop(context, claimed).catch((error: unknown) =>
    context.logger.warn({ dockId: dock.id, why: cause.why, err: error }, 'stop failed'),
  )
  return 'archiving'
}

/** Whether what stops leaves nothing, because the organization keeps no data at rest. */
const wipesData = async ({ db }: DockContext, dock: DockRow): Promise<boolean> =>
  dock.state !== 'archived' && (await retentionEnabled(db, dock.organizationId))

/** The operation that now stops the Dock, the state of one that is stopped already, or `changed`. */
const claimStop = async (
  context: DockContext,
  dock: DockRow,
  { force, wipes }: { force: boolean; wipes: boolean },
  cause: Cause,
): Promise<OperationRow | DockStateAnswer | 'changed'> => {
  const { id, state, hostId } = dock
  const { clock, runner, db } = context
  const now = clock.now()
  if (state === 'archived') return { id, state }
  const removesDisk = force || wipes
  const abandons = removesDisk && hostId !== null && (await mayAbandon(context, dock))
  if (state === 'archiving' && !abandons) {
    // Asked for anew, a stop that waits for its host is tried at once.
    if (await unblockDock(db, id, 'stop', now)) runner.wake()
    return { id, state }
  }
  const starts = state === 'provisioning' || state === 'provisioned' || state === 'cloning'
  // What starts it holds it, but for a recovery that waits: it is given up where there is nothing to save.
  if (starts && !removesDisk) throw new ServiceError('dock_busy')
  if (state === 'unreachable' && !abandons)
    throw new ServiceError('conflict', {
      message: removesDisk
        ? 'The host of the Dock is silent, and may be back any moment. Force the stop again in some minutes.'
        : 'The host of the Dock is silent. Wait for it, or force the stop in some minutes and lose what has changed since the latest Snapshot.',
    })
  const stoppable =
    starts || abandons || stoppableStates.includes(state) || (state === 'error' && dock.hasDisk)
  if (!stoppable || hostId === null) throw new ServiceError('conflict')

  const { organizationId, generation } = dock
  const snapshotId = removesDisk ? null : newUuid()
  const previous = starts || state === 'archiving' ? 'error' : state === 'unreachable' ? 'ready' : state
  const data: StopData = {
    ...{ hostId, snapshotId, previous, name: dock.name },
    ...(wipes ? { wiped: await dockCaptures(db, organizationId, id) } : {}),
  }
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
    moves: [
      ...(starts ? [{ from: state, to: previous, why: 'lost_for_good' } as const] : []),
      ...(state === 'archiving'
        ? []
        : [
            {
              from: starts ? previous : state,
              to: 'archiving',
              why: cause.why === 'ttl' ? 'ttl' : 'stop',
            } as const,
          ]),
    ],
    removesDisk,
    release: starts,
    also: [
      // Of the stop that gives way: what it may have captured is on the lost host.
      ...(state === 'archiving'
        ? [
            sql`unsaved as (update snapshots set status = 'failed'
              where dock_id = ${id} and status = 'saving' and exists (select 1 from moved) returning id, host_id)`,
            sql`unkept as (${saveCaptureOrders(sql`unsaved`, now)})`,
          ]
        : []),
      ...(snapshotId === null
        ? []
        : [
            sql`saving as (insert into snapshots
              (id, dock_id, organization_id, status, runtime, host_id, disk_gib, created_at)
              select ${snapshotId}::uuid, id, organization_id, 'saving', runtime, host_id, disk_gib,
                ${now}::timestamptz from moved)`,
          ]),
    ],
    lease: runner.lease(),
    now,
  })
  return claimed === 'claimed' ? operation : 'changed'
}

/** Whether a stop that keeps nothing may give up what the host has: nothing can be asked of a lost host. */
const mayAbandon = async ({ db }: DockContext, { state, hostId }: DockRow): Promise<boolean> =>
  (state === 'unreachable' || state === 'archiving') && hostId !== null && (await isHostLost(db, hostId))

const runStop = async (context: DockContext, operation: OperationRow): Promise<DockStateAnswer> => {
  const error = await context.runner.run(operation)
  if (error) throw new ServiceError(error.code as ErrorCode, { message: error.message })
  // Blocked: the host fell silent on the way, and the stop goes on when it is back.
  return { id: operation.targetId, state: operation.status === 'completed' ? 'archived' : 'archiving' }
}
