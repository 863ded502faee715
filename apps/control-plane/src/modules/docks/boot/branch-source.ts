/** A branch's source Dock: takes its capture and releases the operation that locks it. */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import {
  completeDrivenOperation,
  type OperationError,
  type OperationRow,
  type SagaStep,
} from '../../../engine/index.ts'
import { type HostGateway, type OrderForHost, saveHostOrders } from '../../hosts/index.ts'
import { endSavingSnapshot, type SavedSnapshot } from '../../storage/index.ts'
import { afterHeld, hasRow, holdDock } from '../core/dock-commit.ts'
import { recordNewSnapshot } from '../core/last-snapshot.ts'
import { blockIfInherited, findLostTimeCapture, type LostTimeParts } from '../core/lost-time.ts'
import { retryWhenHostReconnects } from '../core/retry-when-host-reconnects.ts'
import { type BranchData, hostOf, type StartData } from './start-data.ts'

export type BranchSource = {
  /** Captures the source if it runs, then releases it. */
  capture: SagaStep<BranchData>
  /** Unlocks the source. Its Snapshot becomes `completed`, or `failed` if `failure` is given. */
  release(operation: OperationRow<StartData>, failure: OperationError | null): Promise<void>
}

export function createBranchSource(parts: {
  db: Db
  clock: Clock
  gateway: HostGateway
  origins: LostTimeParts['origins']
}): BranchSource {
  const { db, clock, gateway, origins } = parts

  const release: BranchSource['release'] = async (operation, failure) => {
    const { source } = operation.data
    if (!source) return
    const now = clock.now()
    const ofLostTime = failure !== null && (await origins.isOfLostTime(operation.id))
    // A failed capture may still exist on the host, so the host is ordered to remove it. If the capture may date from
    // before a database restore, it is not removed: its row names no host, so the next inventory puts it in quarantine.
    const leftovers: OrderForHost[] =
      failure && source.live && operation.hostId !== null && !ofLostTime
        ? [{ hostId: operation.hostId, kind: 'capture', thingId: source.snapshotId, generation: 0 }]
        : []
    const saved: SavedSnapshot = {
      id: source.snapshotId,
      status: failure ? 'failed' : 'completed',
      sizeBytes: source.sizeBytes ?? 0,
      afterPowerCut: source.afterPowerCut,
      forgetsHost: ofLostTime,
    }
    await sql`
      with ${holdDock(source.dockId)}, done as (${completeDrivenOperation(source.operationId, failure, { given: afterHeld, now })}),
      snap as (${endSavingSnapshot(saved, hasRow(sql`done`))}),
      ordered as (${saveHostOrders(leftovers, now, sql`select 1 from snap`)}),
      -- An upgrade may have put files on the source since the branch was claimed, so its marks are copied again.
      marked as (update docks b set marks = array(select distinct unnest(b.marks || s.marks)) from docks s
        where b.id = ${operation.targetId} and s.id = ${source.dockId} and ${source.live && !failure})
      ${recordNewSnapshot(source.dockId, now, sql<boolean>`(${source.live && !failure} and ${hasRow(sql`done`)})`)}`.execute(
      db,
    )
  }

  const capture: SagaStep<BranchData> = {
    name: 'capture',
    do: async (operation) => {
      const { source } = operation.data
      if (source.live) {
        const { dockId, generation, snapshotId } = source
        const hostId = hostOf(operation)
        const command = { operationId: operation.id, generation, captureId: snapshotId }
        const take = () => gateway.capture({ hostId, dockId }, command)
        const captured = await retryWhenHostReconnects(gateway, hostId, take).catch(
          async (error: unknown) => {
            await blockIfInherited(parts, operation, hostId, error)
            return findLostTimeCapture(parts, operation, { id: snapshotId, hostId }, error)
          },
        )
        source.sizeBytes = captured.sizeBytes
        source.afterPowerCut = 'afterPowerCut' in captured && captured.afterPowerCut
      }
      await release(operation, null)
    },
  }
  return { capture, release }
}
