/** The sagas that save and delete a Template. To save a Template of a running Dock, the saga captures the Dock first. */
import { uuid } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import * as z from 'zod'
import type { Db } from '../../database/database.ts'
import { type EmptyData, emptyData, firstVersion, LeaseLost, type Saga } from '../../engine/index.ts'
import {
  blockIfInherited,
  completeOperation,
  explainFailure,
  findLostTimeCapture,
  gate,
  hasRow,
  holdDock,
  type LostTimeParts,
  recordNewSnapshot,
  retryWhenHostReconnects,
} from '../docks/index.ts'
import { type HostGateway, type OrderForHost, saveHostOrders } from '../hosts/index.ts'
import { endSavingSnapshot } from '../storage/index.ts'
import { failTemplate, publishTemplate } from './template-store.ts'

const saveData = z.strictObject({
  dataVersion: firstVersion,
  templateId: uuid,
  name: z.string(),
  snapshotId: uuid,
  /** True if the Dock runs, so that it must be captured. */
  live: z.boolean(),
  sizeBytes: z.number().optional(),
  afterPowerCut: z.boolean().optional(),
})
export type SaveData = z.infer<typeof saveData>

type Options = {
  db: Db
  clock: Clock
  gateway: HostGateway
  owner: string
  origins: LostTimeParts['origins']
}

/** Captures a running Dock and publishes the Template, which replaces the one of that name. */
export function createSaveTemplateSaga({ db, clock, gateway, owner, origins }: Options): Saga<SaveData> {
  return {
    kind: 'save-template',
    data: saveData,
    explain: explainFailure,
    steps: [
      {
        name: 'capture',
        do: async (operation) => {
          const { data } = operation
          if (!data.live || operation.hostId === null) return
          const { id: operationId, generation, dockId, hostId } = operation
          const command = { operationId, generation, captureId: data.snapshotId }
          // If the host stays silent, fail the save instead of waiting for the host: the operation holds the Dock.
          const capture = () => gateway.capture({ hostId, dockId: dockId ?? '' }, command)
          const captured = await retryWhenHostReconnects(gateway, hostId, capture).catch(
            async (error: unknown) => {
              await blockIfInherited({ db, origins }, operation, hostId, error)
              const kept = { id: data.snapshotId, hostId }
              return findLostTimeCapture({ gateway, origins }, operation, kept, error)
            },
          )
          data.sizeBytes = captured.sizeBytes
          data.afterPowerCut = 'afterPowerCut' in captured && captured.afterPowerCut
        },
      },
    ],
    finish: async (operation) => {
      const { data } = operation
      const now = clock.now()
      const sizeBytes = data.live ? (data.sizeBytes ?? 0) : null
      const template = { id: data.templateId, organizationId: operation.organizationId, name: data.name }
      const parts = [
        holdDock(operation.dockId),
        sql`gate as (${completeOperation(operation, owner, null, now)})`,
        // Only the holder of the lease may complete the Snapshot: another process may be about to order its capture away.
        sql`snap as (${endSavingSnapshot(
          {
            ...{ id: data.live ? data.snapshotId : null, status: 'completed', sizeBytes: sizeBytes ?? 0 },
            afterPowerCut: data.afterPowerCut,
          },
          hasRow(gate),
        )})`,
        ...(data.live ? [sql`dock as (${recordNewSnapshot(operation.dockId, now, hasRow(gate))})`] : []),
        ...publishTemplate({ ...template, sizeBytes }, now),
      ]
      const result = await sql`with ${sql.join(parts, sql`, `)} select id from gate`.execute(db)
      if (result.rows.length === 0) throw new LeaseLost(operation.id)
    },
    fail: async (operation, error) => {
      const { data } = operation
      const now = clock.now()
      const ofLostTime = await origins.isOfLostTime(operation.id)
      // A capture may exist even though it failed, so order its removal. A capture from the lost time goes to quarantine
      // instead, which requires that the Snapshot has no host.
      const leftovers: OrderForHost[] =
        data.live && operation.hostId !== null && !ofLostTime
          ? [{ hostId: operation.hostId, kind: 'capture', thingId: data.snapshotId, generation: 0 }]
          : []
      const parts = [
        holdDock(operation.dockId),
        sql`gate as (${completeOperation(operation, owner, error, now)})`,
        sql`snap as (${endSavingSnapshot(
          {
            id: data.live ? data.snapshotId : null,
            status: 'failed',
            sizeBytes: 0,
            forgetsHost: ofLostTime,
          },
          hasRow(gate),
        )})`,
        failTemplate(data.templateId, now),
        sql`ordered as (${saveHostOrders(leftovers, now, sql`select 1 from gate`)})`,
      ]
      await sql`with ${sql.join(parts, sql`, `)} select id from gate`.execute(db)
    },
  }
}

/** Deletes the Template's row. Its Snapshot stays with its Dock. */
export function createDeleteTemplateSaga({
  db,
  clock,
  owner,
}: Omit<Options, 'gateway' | 'origins'>): Saga<EmptyData> {
  return {
    kind: 'delete-template',
    data: emptyData,
    explain: explainFailure,
    steps: [],
    finish: async (operation) => {
      const result = await sql`with ${holdDock(null)},
      gate as (${completeOperation(operation, owner, null, clock.now())}),
      gone as (delete from templates where id = ${operation.targetId}
        and organization_id = ${operation.organizationId} and exists (select 1 from gate))
      select id from gate`.execute(db)
      if (result.rows.length === 0) throw new LeaseLost(operation.id)
    },
    fail: async (operation, error) => {
      await sql`with ${holdDock(null)} ${completeOperation(operation, owner, error, clock.now())}`.execute(db)
    },
  }
}
