/** Removes a Dock for good: sandbox, disk and captures on their hosts, then its rows. What fails is tried again. */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { LeaseLost, type OperationRow, type Saga } from '../../../engine/index.ts'
import type { HostGateway } from '../../hosts/index.ts'
import { completeOperation, holdDock, releaseHost } from '../dock-commit.ts'
import { deleteUsage } from '../usage/usage-store.ts'
import { explainFailure } from './explain-failure.ts'
import { orBlocked } from './or-blocked.ts'

export type DeleteData = { hostId: string | null; captures: { id: string; hostId: string }[] }

const deleteData = (operation: OperationRow): DeleteData => operation.data as unknown as DeleteData

export const createDeleteSaga = (options: {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
}): Saga => {
  const { db, clock, gateway, owner } = options
  return {
    kind: 'delete',
    explain: explainFailure,
    steps: [
      {
        name: 'disk',
        do: async (operation) => {
          const { hostId } = deleteData(operation)
          const body = { operationId: operation.id, generation: operation.generation }
          if (hostId !== null) await orBlocked(hostId, gateway.destroy(hostId, operation.targetId, body))
        },
      },
      {
        name: 'captures',
        do: async (operation) => {
          for (const capture of deleteData(operation).captures)
            await orBlocked(capture.hostId, gateway.destroyCapture(capture.hostId, capture.id, operation.id))
        },
      },
    ],
    finish: async (operation) => {
      const result = await sql<{ id: string }>`
        with ${holdDock(operation.targetId)}, gate as (${completeOperation(operation, owner, null, clock.now())}),
        moved as (delete from docks where id = ${operation.targetId} and exists (select 1 from gate) returning id),
        ${releaseHost(operation.targetId)}, ${deleteUsage(operation.targetId)}
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
