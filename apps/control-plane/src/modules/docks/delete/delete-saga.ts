/**
 * Removes a Dock permanently: sandbox, disk and captures on their hosts, then its rows. For a host that cannot remove its
 * part now, an order is saved that it executes at its next report.
 */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { LeaseLost, type OperationRow, type Saga } from '../../../engine/index.ts'
import { type HostGateway, type OrderForHost, saveHostOrders } from '../../hosts/index.ts'
import { afterSpot, completeOperation, holdDock, holdHost, releaseHost } from '../core/dock-commit.ts'
import { explainFailure } from '../core/explain-failure.ts'
import { removeCapture, removeDockDisk } from '../core/remove-from-host.ts'
import { deleteUsage } from '../usage/usage-store.ts'

export type DeleteData = {
  hostId: string | null
  captures: { id: string; hostId: string }[]
  /** Orders to save for removals that hosts could not do now. */
  orders?: OrderForHost[]
}

const deleteData = (operation: OperationRow): DeleteData => operation.data as unknown as DeleteData

export function createDeleteSaga(options: {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
}): Saga {
  const { db, clock, gateway, owner } = options
  return {
    kind: 'delete',
    explain: explainFailure,
    steps: [
      {
        name: 'disk',
        do: async (operation) => {
          const data = deleteData(operation)
          const { targetId: id, generation } = operation
          if (data.hostId !== null)
            data.orders = await removeDockDisk(
              { gateway, db },
              { id, hostId: data.hostId, generation },
              operation.id,
            )
        },
      },
      {
        name: 'captures',
        do: async (operation) => {
          const data = deleteData(operation)
          const orders = [...(data.orders ?? [])]
          for (const capture of data.captures)
            orders.push(...(await removeCapture(gateway, capture, operation.id)))
          data.orders = orders
        },
      },
    ],
    finish: async (operation) => {
      const now = clock.now()
      const orders = deleteData(operation).orders ?? []
      const result = await sql<{ id: string }>`
        with ${holdDock(operation.targetId)}, gate as (${completeOperation(operation, owner, null, now)}),
        ${holdHost},
        moved as (delete from docks where id = ${operation.targetId} and exists (select 1 from gate) and ${afterSpot} returning id),
        ${releaseHost(operation.targetId)}, ${deleteUsage(operation.targetId)},
        ordered as (${saveHostOrders(orders, now, sql`select 1 from gate`)})
        select id from gate`.execute(db)
      if (result.rows.length === 0) throw new LeaseLost(operation.id)
    },
    fail: async (operation, error) => {
      await sql`with ${holdDock(operation.targetId)} ${completeOperation(operation, owner, error, clock.now())}`.execute(
        db,
      )
    },
  }
}
