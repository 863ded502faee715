/**
 * SQL that changes operations as a part of a larger statement, so that an operation begins or ends in the same transaction
 * as the change that it stands for. Each part that depends on another one takes that one's relation or condition.
 */
import { type RawBuilder, sql } from 'kysely'
import type { OperationError, OperationRow } from './operation.ts'
import type { VersionedData } from './operation-data.ts'

export type Lease = { owner: string; until: Date }

/**
 * SQL that inserts an operation if the relation `from` has a row. Set `host` to an expression over `from` if the host is
 * chosen by the same statement. Without a `lease`, any process may take the operation.
 */
export function insertOperation(
  operation: OperationRow<VersionedData>,
  options: {
    from: RawBuilder<unknown>
    lease: Lease | null
    now: Date
    driven?: boolean
    host?: RawBuilder<unknown>
  },
): RawBuilder<unknown> {
  const { from, lease, now } = options
  return sql`
  insert into operations (id, organization_id, kind, target_type, target_id, dock_id, host_id, generation, status,
    data, cause, driven, lease_owner, lease_until, created_at, updated_at)
  select ${operation.id}, ${operation.organizationId}::uuid, ${operation.kind}, ${operation.targetType},
    ${operation.targetId}::uuid, ${operation.dockId}::uuid, ${options.host ?? sql`${operation.hostId}::uuid`},
    ${operation.generation}::int, ${lease ? 'processing' : 'pending'}, ${JSON.stringify(operation.data)}::jsonb,
    ${JSON.stringify(operation.cause)}::jsonb, ${options.driven ?? false}::boolean, ${lease?.owner ?? null},
    ${lease?.until ?? null}::timestamptz, ${now}::timestamptz, ${now}::timestamptz from ${from}`
}

/** SQL that completes an operation if `owner` holds its lease and `given` holds. Returns its `id`. */
export function completeLeasedOperation(
  operation: OperationRow,
  owner: string,
  error: OperationError | null,
  options: { given: RawBuilder<boolean>; now: Date },
): RawBuilder<unknown> {
  return sql`
  update operations set status = 'completed', step = ${operation.step}, data = ${JSON.stringify(operation.data)},
    error = ${error && JSON.stringify(error)}, lease_until = null, updated_at = ${options.now}
  where id = ${operation.id} and lease_owner = ${owner} and status <> 'completed' and ${options.given} returning id`
}

/** SQL that completes an operation which another operation drives, if `given` holds. Returns its `id`. */
export function completeDrivenOperation(
  id: string,
  error: OperationError | null,
  options: { given: RawBuilder<boolean>; now: Date },
): RawBuilder<unknown> {
  return sql`
  update operations set status = 'completed', updated_at = ${options.now}, error = ${error && JSON.stringify(error)}::jsonb
  where id = ${id} and driven and status <> 'completed' and ${options.given} returning id`
}

/** SQL that completes those operations `o` of a Dock for which `given` holds. Returns their `id`. */
export function completeOperationsOfDock(
  dockId: string | null,
  error: OperationError,
  options: { given: RawBuilder<boolean>; now: Date },
): RawBuilder<unknown> {
  return sql`
  update operations o set status = 'completed', error = ${JSON.stringify(error)}::jsonb, updated_at = ${options.now}
  where o.dock_id = ${dockId}::uuid and ${options.given} returning o.id`
}

/** SQL that moves an operation to the `host_id` of the relation `to`, if that has a row, and adds `data` to its data. */
export function moveOperation(
  id: string,
  to: RawBuilder<unknown>,
  data: Record<string, unknown>,
): RawBuilder<unknown> {
  return sql`
  update operations o set host_id = t.host_id, data = o.data || ${JSON.stringify(data)}::jsonb
  from ${to} t where o.id = ${id}`
}
