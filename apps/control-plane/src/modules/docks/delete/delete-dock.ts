/** DELETE /v1/docks/:id */
import { type Operation, ServiceError } from '@dock/contract'
import { sql } from 'kysely'
import { type Cause, type OperationRow, unblockOperationOfDock } from '../../../engine/index.ts'
import type { Visitor } from '../../accounts/index.ts'
import type { DockRow } from '../core/dock.ts'
import { claimDock } from '../core/dock-claim.ts'
import { dockCaptures, findVisibleOperation } from '../core/dock-store.ts'
import { mayDelete } from '../core/retention-gate.ts'
import { runOperationForResponse } from '../core/run-operation-for-response.ts'
import { hasTemplate, isBeingCopied, readHasTemplate } from '../core/snapshot-in-use.ts'
import { causedBy, type DockContext, newDockOperation, requireDock } from '../dock-context.ts'
import type { DeleteData } from './delete-saga.ts'

/** Saves the delete operation of a Dock without checking permissions. Throws `dock_busy` or `snapshot_in_use`. */
export async function claimDelete(
  context: Pick<DockContext, 'db' | 'clock' | 'runner'>,
  dock: DockRow,
  cause: Cause,
): Promise<OperationRow> {
  const { db, clock, runner } = context
  const { id, organizationId, generation, hostId } = dock
  const captures = await dockCaptures(db, organizationId, id)
  const data: DeleteData = { dataVersion: 1, hostId, captures }
  const operation = newDockOperation({
    kind: 'delete',
    organizationId,
    dockId: id,
    hostId: hostId ?? data.captures[0]?.hostId ?? null,
    generation,
    cause,
    data,
  })
  const claimed = await claimDock(db, {
    dock,
    operation,
    moves: [],
    removesDisk: true,
    unless: sql<boolean>`(${hasTemplate(id)} or ${isBeingCopied(id)})`,
    lease: runner.lease(),
    now: clock.now(),
  })
  if (claimed !== 'claimed')
    throw new ServiceError((await readHasTemplate(db, id)) ? 'snapshot_in_use' : 'dock_busy')
  return operation
}

/**
 * Deletes a Dock with its Snapshots. Only its creator or an admin may do so. A repeated request retries a blocked delete
 * at once.
 */
export async function deleteDock(
  context: DockContext,
  caller: Visitor,
  id: string,
  confirmation: string | undefined,
): Promise<{ operation: Operation }> {
  const { db, clock, runner } = context
  const dock = await requireDock(context, caller, id)
  if (confirmation !== id) throw new ServiceError('confirm_required')
  if (!mayDelete(caller, dock)) throw new ServiceError('dock_delete_forbidden')
  let operation: OperationRow
  try {
    operation = await claimDelete(context, dock, causedBy(caller, 'delete'))
  } catch (error) {
    const busy = error instanceof ServiceError && error.code === 'dock_busy'
    const blocked = busy ? await unblockOperationOfDock(db, id, 'delete', clock.now()) : null
    if (blocked === null) throw error
    await runner.sweep()
    const again = await findVisibleOperation(db, caller.userId, blocked)
    if (!again) throw new ServiceError('dock_busy')
    const { role: _, ...shown } = again
    return { operation: shown }
  }
  return { operation: await runOperationForResponse(context, operation) }
}
