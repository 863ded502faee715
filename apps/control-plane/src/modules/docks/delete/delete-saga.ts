/**
 * Removes a Dock permanently: sandbox, disk and captures on their hosts, then its rows. For a host that cannot remove its
 * part now, an order is saved that it executes at its next report.
 */
import { uuid } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import * as z from 'zod'
import type { Db } from '../../../database/database.ts'
import { firstVersion, LeaseLost, type Saga } from '../../../engine/index.ts'
import { type HostGateway, orderForHost, saveHostOrders } from '../../hosts/index.ts'
import { afterSpot, completeOperation, holdDock, holdHost, releaseHost } from '../core/dock-commit.ts'
import { explainFailure } from '../core/explain-failure.ts'
import { removeCapture, removeDockDisk } from '../core/remove-from-host.ts'
import { deleteUsage } from '../usage/usage-store.ts'

const deleteData = z.strictObject({
  dataVersion: firstVersion,
  hostId: uuid.nullable(),
  captures: z.array(z.strictObject({ id: uuid, hostId: uuid })),
  /** Orders to save for removals that hosts could not do now. */
  orders: z.array(orderForHost).optional(),
})
export type DeleteData = z.infer<typeof deleteData>

export function createDeleteSaga(options: {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
}): Saga<DeleteData> {
  const { db, clock, gateway, owner } = options
  return {
    kind: 'delete',
    data: deleteData,
    explain: explainFailure,
    steps: [
      {
        name: 'disk',
        do: async (operation) => {
          const { data } = operation
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
          const { data } = operation
          const orders = [...(data.orders ?? [])]
          for (const capture of data.captures)
            orders.push(...(await removeCapture(gateway, capture, operation.id)))
          data.orders = orders
        },
      },
    ],
    finish: async (operation) => {
      const now = clock.now()
      const orders = operation.data.orders ?? []
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
