/**
 * Stops a Dock. The host syncs and captures the disk, then ends the sandbox; a forced stop takes no capture. If the
 * capture fails, the Dock keeps running.
 */
import { dockState, errorCodes, uuid } from '@dock/contract'
import { type Clock, newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import * as z from 'zod'
import type { Db } from '../../../database/database.ts'
import { firstVersion, OperationBlocked, type OperationRow, type Saga } from '../../../engine/index.ts'
import {
  type HostGateway,
  HostUnreachable,
  isHostLost,
  type OrderForHost,
  orderForHost,
  saveHostOrders,
} from '../../hosts/index.ts'
import { alertStatement } from '../../notifications/index.ts'
import { deleteSnapshotsOfDock, endSavingSnapshot } from '../../storage/index.ts'
import { commitDock, gate, hasRow, moved } from '../core/dock-commit.ts'
import { findLostTimeCapture, type LostTimeParts } from '../core/lost-time.ts'
import { removeCapture } from '../core/remove-from-host.ts'
import { sizeAfterBoot } from '../core/size-after-boot.ts'
import type { TtlClock } from '../core/ttl-clock.ts'
import { dropOutcomesOf } from '../exec/exec-key-store.ts'
import { setupEndedByStop } from '../setup/setup-saga.ts'

const stopData = z.strictObject({
  dataVersion: firstVersion,
  hostId: uuid,
  /** Null for a forced stop. */
  snapshotId: uuid.nullable(),
  previous: dockState,
  /** The Dock's name, for the alert about a failed stop. */
  name: z.string(),
  sizeBytes: z.number().optional(),
  afterPowerCut: z.boolean().optional(),
  /**
   * True if the host completed this stop before a database restore and the Dock was booted again since. Its capture is
   * kept, and the Dock keeps running.
   */
  wentOn: z.boolean().optional(),
  /** Zero data retention only: captures of earlier Snapshots, which the stop deletes. */
  wiped: z.array(z.strictObject({ id: uuid, hostId: uuid })).optional(),
  /** True if the host was lost. It may still run this generation, so the Dock's generation is increased. */
  gaveUp: z.boolean().optional(),
  /** Orders to save for removals that hosts could not do now. */
  orders: z.array(orderForHost).optional(),
})
export type StopData = z.infer<typeof stopData>

const refusedTtlRetryMs = 10 * 60_000

/** Alert about a failed stop. It is sent once until a capture succeeds; callers see each further failure themselves. */
const stopRefused = (operation: OperationRow<StopData>, now: Date): RawBuilder<unknown> => {
  const { name } = operation.data
  return alertStatement(
    {
      type: 'stop_refused',
      dockId: operation.targetId,
      organizationId: operation.organizationId,
      title: `${name} could not be stopped`,
      body: `The disk of ${name} could not be saved, so the Dock keeps running. It is not billed until its disk can be saved. Stop it again, or force the stop: a forced stop loses all changes since its latest Snapshot.`,
      at: now,
      eventId: newUuid(),
    },
    sql<boolean>`exists (select 1 from moved where billing_paused_at = ${now}::timestamptz)`,
  )
}

/** Returns the order to remove whatever a failed capture may have left on the host. */
const capturesOf = ({ hostId, snapshotId }: StopData): OrderForHost[] =>
  snapshotId === null ? [] : [{ hostId, kind: 'capture', thingId: snapshotId, generation: 0 }]

export function createStopSaga(options: {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
  ttl: Pick<TtlClock, 'note'>
  origins: LostTimeParts['origins']
}): Saga<StopData> {
  const { db, clock, gateway, owner, ttl, origins } = options
  /** Captures the Dock's disk and ends its sandbox. */
  const stopWithCapture = async (operation: OperationRow<StopData>, captureId: string): Promise<void> => {
    const { data } = operation
    const body = { operationId: operation.id, generation: operation.generation, captureId }
    try {
      const { capture } = await gateway.stop({ hostId: data.hostId, dockId: operation.targetId }, body)
      if (!capture) throw new Error('the host stopped the Dock but returned no capture')
      data.sizeBytes = capture.sizeBytes
      data.afterPowerCut = capture.afterPowerCut ?? false
    } catch (error) {
      const capture = { id: captureId, hostId: data.hostId }
      data.sizeBytes = (await findLostTimeCapture(options, operation, capture, error)).sizeBytes
      data.wentOn = true
      throw error
    }
  }
  return {
    kind: 'stop',
    data: stopData,
    // The reason does not matter to the caller: the Dock keeps running and the stop can be retried.
    explain: () => ({ code: 'service_unavailable', message: errorCodes.service_unavailable.message }),
    steps: [
      {
        name: 'capture',
        do: async (operation) => {
          const { data } = operation
          const command = { operationId: operation.id, generation: operation.generation }
          try {
            if (data.snapshotId === null)
              await gateway.destroy({ hostId: data.hostId, dockId: operation.targetId }, command)
            else await stopWithCapture(operation, data.snapshotId)
          } catch (error) {
            if (!(error instanceof HostUnreachable)) throw error
            // The outcome is unknown. The command is idempotent and is repeated when the host returns.
            if (data.snapshotId !== null || !(await isHostLost(db, data.hostId)))
              throw new OperationBlocked(data.hostId, 'the host is unreachable', { cause: error })
            const { targetId: thingId, generation } = operation
            data.gaveUp = true
            data.orders = [{ hostId: data.hostId, kind: 'dock', thingId, generation }]
          }
        },
      },
      {
        name: 'wipe',
        do: async (operation) => {
          const { data } = operation
          if (!data.wiped) return
          const orders = [...(data.orders ?? [])]
          for (const capture of data.wiped)
            orders.push(...(await removeCapture(gateway, capture, operation.id)))
          data.orders = orders
          const { targetId: dockId, organizationId } = operation
          await dropOutcomesOf(db, { dockId, organizationId })
        },
      },
    ],
    finish: async (operation) => {
      const { data } = operation
      const now = clock.now()
      await commitDock(db, {
        dockId: operation.targetId,
        generation: operation.generation,
        moves: [{ from: 'archiving', to: 'archived', why: 'stopped' }],
        cause: operation.cause,
        details: data.wiped ? { disk: 'wiped' } : data.snapshotId === null ? { disk: 'nothing_saved' } : {},
        now,
        set: sql`generation = d.generation + ${data.gaveUp ? 1 : 0}, ip = null, host_id = null, has_disk = false, stop_at = null, ready_at = null, active_at = null,
          billing_paused_at = null, disk_alert = null, ${setupEndedByStop(data.wiped !== undefined)}, ${sizeAfterBoot}
          ${data.snapshotId === null ? sql`` : sql`, last_snapshot_at = ${now}`}
          ${data.wiped ? sql`, last_snapshot_at = null, env_sealed = null` : sql``}`,
        event: 'dock.archived',
        release: true,
        complete: { operation, owner, error: null },
        also: [
          sql`snap as (${endSavingSnapshot(
            {
              ...{ id: data.snapshotId, status: 'completed' as const, sizeBytes: data.sizeBytes ?? 0 },
              afterPowerCut: data.afterPowerCut,
            },
            hasRow(moved),
          )})`,
          ...(data.wiped
            ? [sql`wiped as (${deleteSnapshotsOfDock(operation.targetId, hasRow(moved))})`]
            : []),
          sql`ordered as (${saveHostOrders(data.orders ?? [], now, sql`select 1 from moved`)})`,
        ],
      })
    },
    fail: async (operation, error) => {
      const { data } = operation
      const now = clock.now()
      const tryAgainAt = new Date(now.getTime() + refusedTtlRetryMs)
      const keepsRunning = data.wentOn === true
      // A capture from before a database restore must not be removed. The Snapshot's row then names no host, so the
      // capture goes to quarantine when its host reports it.
      const ofLostTime = await origins.isOfLostTime(operation.id)
      await commitDock(db, {
        dockId: operation.targetId,
        generation: operation.generation,
        moves: [{ from: 'archiving', to: data.previous, why: 'capture_failed' }],
        cause: operation.cause,
        now,
        // After a failed stop by ttl, retry in 10 minutes. A ttl that ran out during another stop is due at once.
        set: sql`billing_paused_at = case when ${keepsRunning} then d.billing_paused_at
            else coalesce(d.billing_paused_at, ${now}) end,
          last_snapshot_at = case when ${keepsRunning} then ${now} else d.last_snapshot_at end,
          stop_at = case when ${operation.cause.why === 'ttl'} and d.stop_at <= ${now} then ${tryAgainAt}
            else d.stop_at end`,
        complete: { operation, owner, error },
        also: [
          sql`snap as (${endSavingSnapshot(
            {
              id: data.snapshotId,
              status: keepsRunning ? 'completed' : 'failed',
              sizeBytes: data.sizeBytes ?? 0,
              forgetsHost: ofLostTime && !keepsRunning,
            },
            hasRow(gate),
          )})`,
          sql`ordered as (${saveHostOrders(ofLostTime ? [] : capturesOf(data), now, sql`select 1 from gate`)})`,
          ...(keepsRunning ? [] : [stopRefused(operation, now)]),
        ],
      })
      // The row's stop time may already have passed, so the ttl clock looks at once.
      ttl.note(now)
    },
  }
}
