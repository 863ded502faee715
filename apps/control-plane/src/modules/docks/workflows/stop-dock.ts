/** Ends a Dock's sandbox: its disk is captured and synced first, unless the stop is forced. A refused one runs on. */
import type { DockState } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { OperationBlocked, type OperationRow, type Saga } from '../../../engine/index.ts'
import { type HostGateway, HostUnreachable } from '../../hosts/index.ts'
import { commitDock } from '../dock-commit.ts'
import { explainFailure } from './explain-failure.ts'

export type StopData = {
  hostId: string
  /** Null for a forced stop. */
  snapshotId: string | null
  previous: DockState
  sizeBytes?: number
}

const stopData = (operation: OperationRow): StopData => operation.data as unknown as StopData

export const createStopSaga = (options: {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
}): Saga => {
  const { db, clock, gateway, owner } = options
  return {
    kind: 'stop',
    explain: explainFailure,
    steps: [
      {
        name: 'capture',
        do: async (operation) => {
          const data = stopData(operation)
          const command = { operationId: operation.id, generation: operation.generation }
          try {
            if (data.snapshotId === null) await gateway.destroy(data.hostId, operation.targetId, command)
            else {
              const body = { ...command, captureId: data.snapshotId }
              const { capture } = await gateway.stop(data.hostId, operation.targetId, body)
              if (!capture) throw new Error('the host stopped without a capture')
              data.sizeBytes = capture.sizeBytes
            }
          } catch (error) {
            // Whether it was done is unknown; the command is repeated when the host is back.
            if (error instanceof HostUnreachable)
              throw new OperationBlocked(data.hostId, 'the host is silent', { cause: error })
            throw error
          }
        },
      },
    ],
    finish: async (operation) => {
      const data = stopData(operation)
      const now = clock.now()
      operation.result = await commitDock(db, {
        dockId: operation.targetId,
        generation: operation.generation,
        moves: [{ from: 'archiving', to: 'archived', why: 'stopped' }],
        cause: operation.cause,
        now,
        set: sql`ip = null, host_id = null, has_disk = false, stop_at = null, billing_paused_at = null
          ${data.snapshotId === null ? sql`` : sql`, last_snapshot_at = ${now}`}`,
        event: 'dock.archived',
        release: true,
        complete: { operation, owner, error: null },
        also: [
          sql`snap as (update snapshots set status = 'completed', size_bytes = ${data.sizeBytes ?? 0}
            where id = ${data.snapshotId}::uuid and exists (select 1 from moved))`,
        ],
      })
    },
    fail: async (operation, error) => {
      const data = stopData(operation)
      const now = clock.now()
      await commitDock(db, {
        dockId: operation.targetId,
        generation: operation.generation,
        moves: [{ from: 'archiving', to: data.previous, why: 'capture_failed' }],
        cause: operation.cause,
        now,
        // A ttl that could not stop it waits for a caller, instead of trying each second.
        set: sql`billing_paused_at = ${now}, stop_at = null`,
        complete: { operation, owner, error },
        also: [sql`snap as (update snapshots set status = 'failed' where id = ${data.snapshotId}::uuid)`],
      })
    },
  }
}
