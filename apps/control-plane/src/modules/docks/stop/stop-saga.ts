/** Ends a Dock's sandbox: its disk is captured and synced first, unless the stop is forced. A refused one runs on. */
import { type DockState, errorCodes } from '@dock/contract'
import { type Clock, newUuid } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { OperationBlocked, type OperationRow, type Saga } from '../../../engine/index.ts'
import {
  type HostGateway,
  HostUnreachable,
  isHostLost,
  type OrderForHost,
  saveHostOrders,
} from '../../hosts/index.ts'
import { alertStatement } from '../../notifications/index.ts'
import { commitDock } from '../core/dock-commit.ts'
import { captureOfLostTime, type LostTimeParts } from '../core/lost-time.ts'
import { removeCapture } from '../core/remove-from-host.ts'
import { sizeAfterBoot } from '../core/size-after-boot.ts'
import type { TtlClock } from '../core/ttl-clock.ts'
import { dropOutcomesOf } from '../exec/exec-key-store.ts'
import { setupEndedByStop } from '../setup/setup-saga.ts'

export type StopData = {
  hostId: string
  /** Null for a forced stop. */
  snapshotId: string | null
  previous: DockState
  /** The Dock's name, for what people are told of a refused stop. */
  name: string
  sizeBytes?: number
  /** The Dock has gone on since this stop, in a time that the database has lost; the capture of then stands. */
  wentOn?: boolean
  /** Under zero data retention: the captures of earlier Snapshots, which go with the stop. */
  wiped?: { id: string; hostId: string }[]
  /** The host was lost: it may still run this generation, so the Dock goes on with the next. */
  gaveUp?: boolean
  /** What the hosts could not do. */
  orders?: OrderForHost[]
}

const refusedTtlRetryMs = 10 * 60_000

/** Once, until a capture succeeds: each further refusal is told to whoever asked for it. */
const stopRefused = (operation: OperationRow, name: string, now: Date): RawBuilder<unknown> =>
  alertStatement(
    {
      type: 'stop_refused',
      dockId: operation.targetId,
      organizationId: operation.organizationId,
      title: `${name} could not be stopped`,
      body: `The disk of ${name} could not be saved, so it goes on running, and is not billed until it can be. Stop it again, or force the stop and lose what has changed since its latest Snapshot.`,
      at: now,
      eventId: newUuid(),
    },
    sql<boolean>`exists (select 1 from moved where billing_paused_at = ${now}::timestamptz)`,
  )

/** What a capture that failed may have left on the host. */
const capturesOf = ({ hostId, snapshotId }: StopData): OrderForHost[] =>
  snapshotId === null ? [] : [{ hostId, kind: 'capture', thingId: snapshotId, generation: 0 }]

const stopData = (operation: OperationRow): StopData => operation.data as unknown as StopData

export function createStopSaga(options: {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
  ttl: Pick<TtlClock, 'note'>
  origins: LostTimeParts['origins']
}): Saga {
  const { db, clock, gateway, owner, ttl, origins } = options
  /** Captures the Dock's disk and ends its sandbox. */
  const stopWithCapture = async (operation: OperationRow, captureId: string): Promise<void> => {
    const data = stopData(operation)
    const body = { operationId: operation.id, generation: operation.generation, captureId }
    try {
      const { capture } = await gateway.stop(data.hostId, operation.targetId, body)
      if (!capture) throw new Error('the host stopped without a capture')
      data.sizeBytes = capture.sizeBytes
    } catch (error) {
      const capture = { id: captureId, hostId: data.hostId }
      data.sizeBytes = (await captureOfLostTime(options, operation, capture, error)).sizeBytes
      data.wentOn = true
      throw error
    }
  }
  return {
    kind: 'stop',
    // Whatever kept it from being saved, the Dock goes on running.
    explain: () => ({ code: 'service_unavailable', message: errorCodes.service_unavailable.message }),
    steps: [
      {
        name: 'capture',
        do: async (operation) => {
          const data = stopData(operation)
          const command = { operationId: operation.id, generation: operation.generation }
          try {
            if (data.snapshotId === null) await gateway.destroy(data.hostId, operation.targetId, command)
            else await stopWithCapture(operation, data.snapshotId)
          } catch (error) {
            if (!(error instanceof HostUnreachable)) throw error
            // Whether it was done is unknown; the command is repeated when the host is back.
            if (data.snapshotId !== null || !(await isHostLost(db, data.hostId)))
              throw new OperationBlocked(data.hostId, 'the host is silent', { cause: error })
            const { targetId: thingId, generation } = operation
            data.gaveUp = true
            data.orders = [{ hostId: data.hostId, kind: 'dock', thingId, generation }]
          }
        },
      },
      {
        name: 'wipe',
        do: async (operation) => {
          const data = stopData(operation)
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
      const data = stopData(operation)
      const now = clock.now()
      operation.result = await commitDock(db, {
        dockId: operation.targetId,
        generation: operation.generation,
        moves: [{ from: 'archiving', to: 'archived', why: 'stopped' }],
        cause: operation.cause,
        now,
        set: sql`generation = d.generation + ${data.gaveUp ? 1 : 0}, ip = null, host_id = null, has_disk = false, stop_at = null, ready_at = null, active_at = null,
          billing_paused_at = null, disk_alert = null, ${setupEndedByStop(data.wiped !== undefined)}, ${sizeAfterBoot}
          ${data.snapshotId === null ? sql`` : sql`, last_snapshot_at = ${now}`}
          ${data.wiped ? sql`, last_snapshot_at = null, env_sealed = null` : sql``}`,
        event: 'dock.archived',
        release: true,
        complete: { operation, owner, error: null },
        also: [
          sql`snap as (update snapshots set status = 'completed', size_bytes = ${data.sizeBytes ?? 0}
            where id = ${data.snapshotId}::uuid and exists (select 1 from moved))`,
          sql`wiped as (delete from snapshots where dock_id = ${operation.targetId} and ${data.wiped !== undefined}
            and exists (select 1 from moved))`,
          sql`ordered as (${saveHostOrders(data.orders ?? [], now, sql`select 1 from moved`)})`,
        ],
      })
    },
    fail: async (operation, error) => {
      const data = stopData(operation)
      const now = clock.now()
      const tryAgainAt = new Date(now.getTime() + refusedTtlRetryMs)
      const wentOn = data.wentOn === true
      // Where no host is named, a capture that a stop of the lost time left goes to quarantine when its host reports it.
      const ofLostTime = await origins.isOfLostTime(operation.id)
      await commitDock(db, {
        dockId: operation.targetId,
        generation: operation.generation,
        moves: [{ from: 'archiving', to: data.previous, why: 'capture_failed' }],
        cause: operation.cause,
        now,
        // A ttl that could not stop it tries again, but not each second; one that ran out meanwhile has not tried yet.
        set: sql`billing_paused_at = case when ${wentOn} then d.billing_paused_at
            else coalesce(d.billing_paused_at, ${now}) end,
          last_snapshot_at = case when ${wentOn} then ${now} else d.last_snapshot_at end,
          stop_at = case when ${operation.cause.why === 'ttl'} and d.stop_at <= ${now} then ${tryAgainAt}
            else d.stop_at end`,
        complete: { operation, owner, error },
        also: [
          sql`snap as (update snapshots set status = ${wentOn ? 'completed' : 'failed'},
            size_bytes = ${data.sizeBytes ?? 0}, host_id = case when ${ofLostTime && !wentOn} then null else host_id end
            where id = ${data.snapshotId}::uuid and exists (select 1 from gate))`,
          sql`ordered as (${saveHostOrders(ofLostTime ? [] : capturesOf(data), now, sql`select 1 from gate`)})`,
          ...(wentOn ? [] : [stopRefused(operation, data.name, now)]),
        ],
      })
      // Whichever moment the row has now, it may have passed meanwhile.
      ttl.note(now)
    },
  }
}
