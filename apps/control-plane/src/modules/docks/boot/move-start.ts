/**
 * Retries a failed start once on a second host. One statement moves the Dock's reservation, row and operation to the new
 * host, and saves an order for the first host to destroy whatever this start may have created there.
 */
import type { RuntimeName } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { LeaseLost, moveOperation, type OperationRow } from '../../../engine/index.ts'
import {
  type HostGateway,
  HostRefused,
  HostUnreachable,
  hostCandidate,
  type OrderForHost,
  type PlacementPolicy,
  type PlacementRequest,
  releaseRoom,
  reserveRoom,
  runtimesFor,
  type StartDock,
  type StartFailures,
  saveHostOrders,
} from '../../hosts/index.ts'
import { afterHeld, afterSpot, holdDock, holdHost, moved } from '../core/dock-commit.ts'
import type { StartData } from './start-data.ts'

export type MoveParts = {
  db: Db
  gateway: Pick<HostGateway, 'hostsWithControlLink' | 'destroy'>
  owner: string
  policy: PlacementPolicy
  startFailures: StartFailures
}

/** Refusals that depend on the host. Any other host would refuse the rest as well. */
const hostFaults = new Set<string>(['failed', 'no_space', 'busy', 'frozen', 'damaged'])

/** True if the same start may succeed on another host. */
export function isFaultOfHost(error: unknown): boolean {
  return error instanceof HostUnreachable || (error instanceof HostRefused && hostFaults.has(error.code))
}

type Row = {
  cpus: number
  memoryMiB: number
  diskGiB: number
  /** Null if the disk is made from an image. */
  diskRuntime: RuntimeName | null
  copied: boolean
}

/** Returns a placement request for a second host, or null if no other host can have the start's source. */
const placementOf = async (
  { db, gateway, startFailures }: MoveParts,
  operation: OperationRow<StartData>,
  source: StartDock['source'],
): Promise<PlacementRequest | null> => {
  const captureId = source.kind === 'capture' ? source.captureId : null
  const found = await sql<Row>`
    select d.cpus, d.memory_mib as "memoryMiB", d.disk_gib as "diskGiB", s.runtime as "diskRuntime",
      s.copied_at is not null as copied
    from docks d left join snapshots s on s.id = ${captureId}::uuid where d.id = ${operation.targetId} and d.organization_id = ${operation.organizationId}`.execute(
    db,
  )
  const row = found.rows[0]
  if (!row || source.kind === 'own' || (source.kind === 'capture' && !row.copied)) return null
  const { cpus, memoryMiB, diskGiB } = row
  return {
    cpus,
    memoryMiB,
    diskGiB,
    only: null,
    image: source.kind === 'image' ? source.image : null,
    runtimes: runtimesFor(row.diskRuntime, operation.data.runtime),
    linked: gateway.hostsWithControlLink().filter((id) => id !== operation.hostId),
    avoid: startFailures.hostsToAvoid(),
  }
}

/** Moves the start to another host. Returns false if no suitable host has room. Throws {@link LeaseLost}. */
export async function moveStart(
  parts: MoveParts,
  operation: OperationRow<StartData>,
  source: StartDock['source'],
  now: Date,
): Promise<boolean> {
  const { db, gateway, owner, policy } = parts
  const { targetId: dockId, generation, hostId: from } = operation
  if (from === null) return false
  const request = await placementOf(parts, operation, source)
  if (request === null || request.linked.length === 0) return false
  const order: OrderForHost = { hostId: from, kind: 'start', thingId: dockId, generation }
  const result = await sql<{ held: boolean; hostId: string | null }>`
    with ${holdDock(dockId)},
    mine as (select id from operations where id = ${operation.id} and lease_owner = ${owner}
      and status <> 'completed' and ${afterHeld} for update),
    ${holdHost},
    candidate as (${hostCandidate(request, policy, sql<boolean>`(select count(*) from mine) = 1 and ${afterSpot}`, true)}),
    moved as (update docks d set host_id = c.id, runtime = c.runtime,
        image_version = case when ${request.image}::text is null then d.image_version
          else (select h.image_versions ->> ${request.image}::text from hosts h where h.id = c.id) end
      from candidate c where d.id = ${dockId} and d.generation = ${generation} and d.placed
        and d.state = 'provisioning' returning d.id, d.host_id),
    told as (${moveOperation(operation.id, moved, { movedFrom: from })}),
    placed as (${reserveRoom(request, sql`(select host_id as id from ${moved})`)}),
    released as (${releaseRoom(sql`(select ${from}::uuid as host_id, ${request.cpus}::int as cpus,
      ${request.memoryMiB}::int as memory_mib, ${request.diskGiB}::int as disk_gib from ${moved})`)}),
    ordered as (${saveHostOrders([order], now, sql`select 1 from moved`)})
    select exists (select 1 from mine) as held, (select host_id from moved) as "hostId"`.execute(db)
  const { held, hostId } = result.rows[0]!
  if (!held) throw new LeaseLost(operation.id)
  if (hostId === null) return false
  operation.hostId = hostId
  operation.data.movedFrom = from
  // Only speeds up the removal: the order is saved and the host executes it at its next report in any case.
  const undo = { operationId: operation.id, generation, keepOlder: true as const }
  await gateway.destroy({ hostId: from, dockId }, undo).catch(() => undefined)
  return true
}
