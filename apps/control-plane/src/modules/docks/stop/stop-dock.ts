/** POST /v1/docks/:id/stop, and stops by ttl or by the platform. */
import { type DockState, type ErrorCode, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import { type Cause, type OperationRow, unblockOperationOfDock } from '../../../engine/index.ts'
import { retentionEnabled, type Visitor } from '../../accounts/index.ts'
import { isHostLost, saveCaptureOrders } from '../../hosts/index.ts'
import { failSavingSnapshots, insertSavingSnapshot } from '../../storage/index.ts'
import type { DockRow } from '../core/dock.ts'
import { claimDock } from '../core/dock-claim.ts'
import { hasRow, moved } from '../core/dock-commit.ts'
import { canStop } from '../core/dock-state.ts'
import { dockCaptures, dueDocks } from '../core/dock-store.ts'
import { latestSnapshot } from '../core/kept-snapshot.ts'
import { mayDelete } from '../core/retention-gate.ts'
import { causedBy, type DockContext, newDockOperation, requireDock } from '../dock-context.ts'
import type { StopData } from './stop-saga.ts'

/** Attempts to claim a Dock whose state changes concurrently. */
const claimAttempts = 3

export type DockStateAnswer = { id: string; state: DockState }

/**
 * Stops a Dock and saves its disk as a Snapshot; with `force`, without one. If the Dock is stopped or stopping already,
 * returns its state.
 */
export async function stopDock(
  context: DockContext,
  caller: Visitor,
  id: string,
  body: { force: boolean },
): Promise<DockStateAnswer> {
  for (let attempt = 1; ; attempt++) {
    const dock = await requireDock(context, caller, id)
    const wipes = await wipesData(context, dock, body.force)
    if (wipes && !body.force && !mayDelete(caller, dock)) throw new ServiceError('dock_delete_forbidden')
    const claimed = await claimStop(context, dock, { force: body.force, wipes }, causedBy(caller, 'stop'))
    if (claimed !== 'changed') return 'state' in claimed ? claimed : runStop(context, claimed)
    // The Dock's state has just changed, for example to idle, so it is read again.
    if (attempt === claimAttempts) throw new ServiceError('dock_busy')
  }
}

/** Starts the stop of every Dock whose ttl has run out, without waiting for the stops to complete. */
export async function stopDueDocks(context: DockContext): Promise<void> {
  for (const dock of await dueDocks(context.db, context.clock.now())) {
    try {
      await beginStop(context, dock, { by: 'ttl', through: 'timer', why: 'ttl' })
    } catch (error) {
      context.logger.warn({ dockId: dock.id, err: error }, 'stop by ttl failed')
    }
  }
}

/** Starts the stop of a Dock on behalf of the platform. Returns the Dock's new state, or `changed` if it must be reread. */
export async function beginStop(
  context: DockContext,
  dock: DockRow,
  cause: Cause,
  force = false,
): Promise<'archived' | 'archiving' | 'changed'> {
  // Even a stop that is forced here was ordered by somebody who may delete the data, or by the Dock's timer.
  const wipes = await wipesData(context, dock, false)
  const claimed = await claimStop(context, dock, { force, wipes }, cause)
  if (claimed === 'changed') return 'changed'
  if ('state' in claimed) return claimed.state === 'archived' ? 'archived' : 'archiving'
  runStop(context, claimed).catch((error: unknown) =>
    context.logger.warn({ dockId: dock.id, why: cause.why, err: error }, 'stop failed'),
  )
  return 'archiving'
}

/**
 * Returns true if the stop must delete the Dock's data, because the organization has zero data retention. A forced stop
 * keeps the earlier Snapshots and what a resume from them needs. If there are none, it deletes the rest.
 */
const wipesData = async ({ db }: DockContext, dock: DockRow, force: boolean): Promise<boolean> =>
  dock.state !== 'archived' &&
  (await retentionEnabled(db, dock.organizationId)) &&
  !(force && (await latestSnapshot(db, dock.organizationId, dock.id)))

/**
 * Saves the stop operation and returns it. Returns the Dock's state if it is stopped or stopping already, or `changed` if
 * it is no longer as it was read.
 */
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
    // A repeated request retries a stop that is blocked on its host.
    if (await unblockOperationOfDock(db, id, 'stop', now)) runner.wake()
    return { id, state }
  }
  const starts = state === 'provisioning' || state === 'provisioned' || state === 'cloning'
  // A starting Dock is held by its start. Only a stop that saves nothing may replace it, and only if it is blocked.
  if (starts && !removesDisk) throw new ServiceError('dock_busy')
  if (state === 'unreachable' && !abandons)
    throw new ServiceError('conflict', {
      message: removesDisk
        ? 'The host of the Dock is not responding, but may return soon. Try the forced stop again in a few minutes.'
        : 'The host of the Dock is not responding. Wait until it returns, or force the stop in a few minutes. A forced stop loses all changes since the latest Snapshot.',
    })
  if (!(starts || abandons || canStop(dock)) || hostId === null)
    throw new ServiceError('conflict', {
      message: 'The Dock has failed and has no disk that could be saved. Delete it.',
    })

  const { organizationId, generation } = dock
  const snapshotId = removesDisk ? null : newUuid()
  const previous = starts || state === 'archiving' ? 'error' : state === 'unreachable' ? 'ready' : state
  const data: StopData = {
    dataVersion: 1,
    hostId,
    snapshotId,
    previous,
    name: dock.name,
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
      // The replaced stop may have left a capture on the lost host: fail its Snapshot and order the capture's removal.
      ...(state === 'archiving'
        ? [
            sql`unsaved as (${failSavingSnapshots(id, hasRow(moved))})`,
            sql`unkept as (${saveCaptureOrders(sql`unsaved`, now)})`,
          ]
        : []),
      ...(snapshotId === null ? [] : [sql`saving as (${insertSavingSnapshot(snapshotId, moved, now)})`]),
    ],
    lease: runner.lease(),
    now,
  })
  return claimed === 'claimed' ? operation : 'changed'
}

/** Returns true if the Dock's host is lost, so that a stop that saves nothing may abandon what is on it. */
const mayAbandon = async ({ db }: DockContext, { state, hostId }: DockRow): Promise<boolean> =>
  (state === 'unreachable' || state === 'archiving') && hostId !== null && (await isHostLost(db, hostId))

const runStop = async (context: DockContext, operation: OperationRow): Promise<DockStateAnswer> => {
  const error = await context.runner.run(operation)
  if (error) throw new ServiceError(error.code as ErrorCode, { message: error.message })
  // If the host fell silent, the operation is blocked and continues when the host returns.
  return { id: operation.targetId, state: operation.status === 'completed' ? 'archived' : 'archiving' }
}
