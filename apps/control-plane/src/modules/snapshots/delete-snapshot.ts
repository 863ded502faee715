/** DELETE /v1/snapshots/:id. Deletes the row and the captures. A sweep removes the copy from the object store later. */
import { type Operation, ServiceError } from '@dock/contract'
import { type Clock, newOperationId } from '@dock/foundation'
import { sql } from 'kysely'
import * as z from 'zod'
import { type Db, withTransaction } from '../../database/database.ts'
import {
  firstVersion,
  LeaseLost,
  type OperationRow,
  type Saga,
  unblockOperationOfDock,
} from '../../engine/index.ts'
import type { Visitor } from '../accounts/index.ts'
import {
  causedBy,
  completeOperation,
  explainFailure,
  gate,
  hasRow,
  holdDock,
  recordDeletedSnapshot,
  removeCapture,
  runOperationForResponse,
  saveOperation,
} from '../docks/index.ts'
import { type HostGateway, type OrderForHost, orderForHost, saveHostOrders } from '../hosts/index.ts'
import { deleteSnapshotRow } from '../storage/index.ts'
import type { SnapshotContext } from './snapshot-context.ts'
import {
  findActiveOperation,
  findSnapshotRow,
  listKeepers,
  lockUnusedSnapshot,
  type SnapshotRow,
} from './snapshot-store.ts'

type Context = Pick<SnapshotContext, 'db' | 'clock' | 'runner'>

const kind = 'snapshot-delete'

const snapshotDeleteData = z.strictObject({
  dataVersion: firstVersion,
  /** Orders to save for removals that hosts could not do now. */
  orders: z.array(orderForHost).optional(),
})
type SnapshotDeleteData = z.infer<typeof snapshotDeleteData>

/**
 * Deletes a Snapshot that is not in use, for an admin. A request for a deletion that is blocked retries it. Throws
 * `confirm_required` and `snapshot_in_use`.
 */
export async function deleteSnapshot(
  context: Context,
  caller: Visitor,
  id: string,
  confirmation: string | undefined,
): Promise<{ operation: Operation }> {
  const { db, clock, runner } = context
  const row = caller.admit(await findSnapshotRow(db, caller.userId, id))
  if (confirmation !== id) throw new ServiceError('confirm_required')
  const operation: OperationRow<SnapshotDeleteData> = {
    id: newOperationId(),
    organizationId: row.organizationId,
    kind,
    targetType: 'snapshot',
    targetId: id,
    dockId: row.dockId,
    hostId: row.hostId,
    generation: 0,
    status: 'processing',
    step: null,
    undoing: false,
    data: { dataVersion: 1 },
    cause: causedBy(caller, 'delete'),
    error: null,
  }
  if (await claim(context, row, operation))
    return { operation: await runOperationForResponse(context, operation) }
  const underWay = await findActiveOperation(db, row.organizationId, kind, id)
  if (!underWay) throw new ServiceError('snapshot_in_use')
  if (await unblockOperationOfDock(db, row.dockId, kind, clock.now())) runner.wake()
  return { operation: underWay }
}

/**
 * Saves the operation. Returns false if the Snapshot is in use, or if another operation holds its Dock and might use it.
 * The transaction locks the Dock's row first, so that the check sees operations that were saved meanwhile.
 */
const claim = async (
  { db, clock, runner }: Context,
  row: SnapshotRow,
  operation: OperationRow<SnapshotDeleteData>,
): Promise<boolean> => {
  try {
    return await withTransaction(db, async (tx) => {
      await sql`select id from docks where id = ${row.dockId} for update`.execute(tx)
      if (!(await lockUnusedSnapshot(tx, row.organizationId, row.id))) return false
      await saveOperation({ db: tx, clock, runner }, operation)
      return true
    })
  } catch (error) {
    if ((error as { constraint?: string }).constraint === 'operations_one_active') return false
    throw error
  }
}

/** Removes the captures from their hosts, or orders silent hosts to do so, then deletes the row. */
export function createSnapshotDeleteSaga(options: {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
}): Saga<SnapshotDeleteData> {
  const { db, clock, gateway, owner } = options
  return {
    kind,
    data: snapshotDeleteData,
    explain: explainFailure,
    steps: [
      {
        name: 'capture',
        do: async (operation) => {
          const { id: operationId, organizationId, targetId } = operation
          const orders: OrderForHost[] = []
          for (const hostId of await listKeepers(db, organizationId, targetId))
            orders.push(...(await removeCapture(gateway, { id: targetId, hostId }, operationId)))
          operation.data.orders = orders
        },
      },
    ],
    finish: async (operation) => {
      const { dockId, targetId, organizationId } = operation
      const snapshot = { id: targetId, organizationId }
      const now = clock.now()
      const orders = operation.data.orders ?? []
      const result = await sql<{ id: string }>`
        with ${holdDock(dockId)}, gate as (${completeOperation(operation, owner, null, now)}),
        gone as (${deleteSnapshotRow(snapshot, hasRow(gate))}),
        changed as (${recordDeletedSnapshot({ ...snapshot, dockId }, hasRow(sql`gone`))}),
        ordered as (${saveHostOrders(orders, now, sql`select 1 from gone`)})
        select id from gate`.execute(db)
      if (result.rows.length === 0) throw new LeaseLost(operation.id)
    },
    fail: async (operation, error) => {
      await sql`with ${holdDock(operation.dockId)} ${completeOperation(operation, owner, error, clock.now())}`.execute(
        db,
      )
    },
  }
}
