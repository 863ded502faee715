/** All SQL for the progress and leases of operations. A write after the claim succeeds only while the lease is held. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { OperationRow } from './operation.ts'

const columns = sql`o.id, o.organization_id as "organizationId", o.kind, o.target_type as "targetType",
  o.target_id as "targetId", o.dock_id as "dockId", o.host_id as "hostId", o.generation, o.status, o.step,
  o.undoing, o.data, o.cause, o.error`

/** Another process holds the operation's lease. The caller must stop working on the operation. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Claims up to `limit` operations that have no lease or an expired one. */
export async function claimDueOperations(
  db: Db,
  input: { owner: string; now: Date; until: Date; limit: number },
): Promise<OperationRow[]> {
  const result = await sql<OperationRow>`
    update operations o set lease_owner = ${input.owner}, lease_until = ${input.until}, status = 'processing',
      updated_at = ${input.now}
    where o.id in (
      select id from operations
      where status in ('pending', 'processing') and not driven and (lease_until is null or lease_until < ${input.now})
      order by created_at for update skip locked limit ${input.limit})
    returning ${columns}`.execute(db)
  return result.rows
}

/** Ends the leases of all other owners. Call it only when no other process works on the database. */
export async function endLeasesOfOthers(db: Db, owner: string): Promise<void> {
  await sql`update operations set lease_until = null
    where status in ('pending', 'processing') and not driven and lease_owner <> ${owner}`.execute(db)
}

/** Renews the leases of these operations. Returns the ids that the owner still holds. */
export async function renewLeases(
  db: Db,
  input: { owner: string; until: Date; ids: readonly string[] },
): Promise<string[]> {
  const result = await sql<{ id: string }>`
    update operations set lease_until = ${input.until}
    where id = any(${input.ids}) and lease_owner = ${input.owner} and status = 'processing' returning id`.execute(
    db,
  )
  return result.rows.map((row) => row.id)
}

/** Saves an operation's progress: step, direction, status and data. Throws {@link LeaseLost}. */
export async function recordProgress(
  db: Db,
  owner: string,
  operation: OperationRow,
  at: { now: Date; leaseUntil: Date | null },
): Promise<void> {
  const result = await sql`
    update operations set step = ${operation.step}, undoing = ${operation.undoing}, status = ${operation.status},
      data = ${JSON.stringify(operation.data)}, error = ${operation.error && JSON.stringify(operation.error)},
      waits_for = ${operation.status === 'blocked' ? (operation.waitsFor ?? null) : null}::uuid,
      lease_until = ${at.leaseUntil}, updated_at = ${at.now}
    where id = ${operation.id} and lease_owner = ${owner} and status <> 'completed'`.execute(db)
  if (result.numAffectedRows !== 1n) throw new LeaseLost(operation.id)
}

/**
 * Adds entries to the object `key` of an operation's data, at once and without its other progress. Parts of an operation
 * that run side by side do not overwrite each other's entries. Throws {@link LeaseLost}.
 */
export async function addToOperationData(
  db: Db,
  owner: string,
  operationId: string,
  key: string,
  entries: Record<string, unknown>,
): Promise<void> {
  const result = await sql`
    update operations set data = jsonb_set(data, array[${key}::text],
      coalesce(data -> ${key}::text, '{}') || ${JSON.stringify(entries)}::jsonb)
    where id = ${operationId} and lease_owner = ${owner} and status <> 'completed'`.execute(db)
  if (result.numAffectedRows !== 1n) throw new LeaseLost(operationId)
}

/** Sets the operations that are blocked on this host to `pending`. Returns their number. */
export async function unblockOperationsOfHost(db: Db, hostId: string, now: Date): Promise<number> {
  const result = await sql`
    update operations set status = 'pending', lease_owner = null, lease_until = null, updated_at = ${now}
    where waits_for = ${hostId} and status = 'blocked'`.execute(db)
  return Number(result.numAffectedRows ?? 0n)
}

/**
 * Sets the Dock's blocked operation of this kind to `pending`, because a caller repeated the request. Returns its id,
 * or null if there is none.
 */
export async function unblockOperationOfDock(
  db: Db,
  dockId: string,
  kind: string,
  now: Date,
): Promise<string | null> {
  const result = await sql<{ id: string }>`
    update operations set status = 'pending', lease_owner = null, lease_until = null, updated_at = ${now}
    where dock_id = ${dockId} and kind = ${kind} and status = 'blocked' returning id`.execute(db)
  return result.rows[0]?.id ?? null
}

/**
 * Claims a blocked operation with the same target and intent, because a caller repeated the request. Returns null if
 * there is none.
 */
export async function claimBlockedOperation(
  db: Db,
  { organizationId, kind, targetId }: OperationRow,
  input: { same: RawBuilder<boolean>; lease: { owner: string; until: Date }; now: Date },
): Promise<OperationRow | null> {
  const result = await sql<OperationRow>`
    update operations o set lease_owner = ${input.lease.owner}, lease_until = ${input.lease.until},
      status = 'processing', updated_at = ${input.now}
    where o.id = (
      select id from operations
      where organization_id = ${organizationId} and kind = ${kind} and target_id = ${targetId}
        and status = 'blocked' and ${input.same}
      order by created_at for update skip locked limit 1)
    returning ${columns}`.execute(db)
  return result.rows[0] ?? null
}
