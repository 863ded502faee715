/**
 * Saves the intent of a change to a Dock. Each claim is one SQL statement, and therefore one transaction. It covers the
 * placement, the Dock's row, the operation with this process's lease, and the idempotency key. If any part is refused,
 * nothing is saved.
 */
import { isReadyDockState, type RuntimeName, readyDockStates, ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import {
  insertOperation,
  type Lease,
  type OperationRow,
  type OperationRunner,
  type VersionedData,
} from '../../../engine/index.ts'
import {
  hostCandidate,
  type PlacementPolicy,
  type PlacementRequest,
  reserveRoom,
  type StartDock,
} from '../../hosts/index.ts'
import { type Quota, type QuotaRefusal, quotaCte, quotaError } from '../../limits/index.ts'
import { insertSavingSnapshot } from '../../storage/index.ts'
import type { DockRow } from './dock.ts'
import {
  afterHeld,
  afterSpot,
  hasRow,
  holdDock,
  holdHost,
  insertChanges,
  moved,
  releaseHost,
} from './dock-commit.ts'
import { checkedMoves, type DockMove } from './dock-state.ts'
import { insertDock, type NewDockRow } from './insert-dock.ts'
import { endYieldingOperation } from './yields-to-delete.ts'

/** Saves an operation that does not lock a Dock. This process holds its lease. */
export async function saveOperation(
  context: { db: Db; clock: Clock; runner: Pick<OperationRunner, 'lease'> },
  operation: OperationRow<VersionedData>,
): Promise<void> {
  const { db, clock, runner } = context
  const from = sql`(values (1)) as one`
  await insertOperation(operation, { from, lease: runner.lease(), now: clock.now() }).execute(db)
}

/** Another create has already claimed this Dock of the warm pool. */
export class DockIdTaken extends Error {
  override readonly name = 'DockIdTaken'
}

/** Maps a violated database constraint to the error that the caller sees. Returns any other error unchanged. */
export function claimError(error: unknown): unknown {
  const failure = error as { code?: string; constraint?: string }
  // The workspace was deleted after the caller looked it up.
  if (failure.constraint === 'docks_workspace_id_fkey') return new ServiceError('dock_not_found')
  if (failure.code !== '23505') return error
  if (failure.constraint === 'operations_one_active') return new ServiceError('dock_busy')
  if (failure.constraint === 'docks_name') return new ServiceError('dock_name_taken')
  if (failure.constraint === 'docks_pkey') return new DockIdTaken('another Dock was claimed under this id')
  return error
}

export type NewDock = {
  dock: Pick<
    DockRow,
    | 'id'
    | 'organizationId'
    | 'workspaceId'
    | 'name'
    | 'image'
    | 'cpus'
    | 'memoryMiB'
    | 'diskGiB'
    | 'ttlSeconds'
    | 'environment'
    | 'environmentId'
    | 'environmentVersion'
    | 'noEnv'
    | 'fromTemplate'
    | 'createdBy'
  > & {
    envSealed: string | null
    setupScriptSealed: string | null
    envPasses: boolean
    marks: readonly string[]
  }
  operation: OperationRow<VersionedData>
  why: 'create' | 'branch'
  /** The image or Snapshot from which the host creates the disk. */
  origin: StartDock['source']
  key: { key: string; fingerprint: Buffer; keysSince: Date } | null
  placement: PlacementRequest
  policy: PlacementPolicy
  quota: Quota
  lease: Lease
  now: Date
  /** Further parts of the statement, each in the form `name as (…)`. They read the new row from `born`. */
  also?: readonly RawBuilder<unknown>[]
  /** Branch only: the operation that locks the source Dock, and the Snapshot that it takes. */
  source?: {
    operation: OperationRow<VersionedData>
    /** The state that the caller read. The claim is refused if the source has changed since. */
    state: DockRow['state']
    snapshot: { id: string; dockId: string; hostId: string; diskGiB: number; runtime: RuntimeName } | null
  }
}

/** Why nothing was saved. `source_changed`: the source Dock of a branch is no longer as it was read. */
export type ClaimRefusal = { kind: 'no_host' | 'key_taken' | 'source_changed' }
export type ClaimOutcome = { kind: 'claimed'; hostId: string } | ClaimRefusal

/** Image version that the disk derives from: the host's current one, or that of the Dock from which it is copied. */
const imageVersion = ({ dock, origin, source }: NewDock): RawBuilder<unknown> => {
  if (source) return sql`(select s.image_version from docks s where s.id = ${source.operation.dockId}::uuid)`
  if (origin.kind === 'capture')
    return sql`(select s.image_version from snapshots k join docks s on s.id = k.dock_id
      where k.id = ${origin.captureId}::uuid)`
  return sql`placed.image_versions ->> ${dock.image}::text`
}

/**
 * States in which a claim accepts the Dock that was read in `state`. `ready`, `idle` and `running` are interchangeable,
 * because the activity timer may switch between them at any time.
 */
const acceptedStates = (state: DockRow['state']): readonly DockRow['state'][] =>
  isReadyDockState(state) ? readyDockStates : [state]

/** SQL predicate: true if no quota refuses the change. It is evaluated first, so a refused change locks no host row. */
const withinQuota: RawBuilder<boolean> = sql<boolean>`(select count(*) from quota) = 0`

const newRow = (input: NewDock): NewDockRow => {
  const { dock, now } = input
  return {
    id: dock.id,
    organization_id: dock.organizationId,
    workspace_id: dock.workspaceId,
    name: dock.name,
    image: dock.image,
    image_version: imageVersion(input),
    cpus: dock.cpus,
    memory_mib: dock.memoryMiB,
    disk_gib: dock.diskGiB,
    runtime: sql`placed.runtime`,
    state: 'provisioning',
    state_changed_at: now,
    generation: 1,
    ttl_seconds: dock.ttlSeconds,
    environment: dock.environment,
    environment_id: dock.environmentId,
    environment_version: dock.environmentVersion,
    env_passes: dock.envPasses,
    marks: [...dock.marks],
    no_env: dock.noEnv,
    from_template: dock.fromTemplate,
    host_id: sql`placed.id`,
    placed: true,
    has_disk: false,
    setup_status: 'pending',
    env_sealed: dock.envSealed,
    setup_script_sealed: dock.setupScriptSealed,
    created_by: dock.createdBy,
    created_at: now,
    updated_at: now,
  }
}

/**
 * Chooses a host for a new Dock and saves the Dock in state `provisioning`. Throws `dock_name_taken`,
 * {@link DockIdTaken}, an error of the quota and, for a branch, `dock_busy`.
 */
export async function claimNewDock(db: Db, input: NewDock): Promise<ClaimOutcome> {
  const { dock, operation, key, now, source } = input
  const move: DockMove = { from: null, to: 'provisioning', why: input.why }
  const { why: _, ...cause } = operation.cause
  const leased = { lease: input.lease, now }
  const parts = [
    source
      ? sql`held as (select id from docks where id = ${source.operation.dockId}::uuid
          and state in (${sql.join(acceptedStates(source.state))}) and generation = ${source.operation.generation} for update)`
      : sql`held as (select 1 as id)`,
    quotaCte(input.quota, dock, sql<boolean>`exists (select 1 from held)`),
    sql`candidate as (${hostCandidate(
      input.placement,
      input.policy,
      sql<boolean>`(exists (select 1 from held) and ${withinQuota})`,
    )})`,
    key
      ? sql`claim as (
          insert into idempotency_keys as k (organization_id, key, fingerprint, dock_id, operation_id, created_at)
          select ${dock.organizationId}::uuid, ${key.key}, ${key.fingerprint}::bytea, ${dock.id}::uuid, ${operation.id},
            ${now}::timestamptz from candidate
          on conflict (organization_id, key) do update set fingerprint = excluded.fingerprint,
            dock_id = excluded.dock_id, operation_id = excluded.operation_id, created_at = excluded.created_at
            where k.created_at <= ${key.keysSince} returning 1)`
      : sql`claim as (select 1 from candidate)`,
    sql`placed as (${reserveRoom(dock, sql`candidate`, hasRow(sql`claim`))})`,
    sql`born as (${insertDock(newRow(input), sql`placed`)})`,
    sql`changes as (${insertChanges(sql`born`, checkedMoves([move]), cause, now)})`,
    sql`intent as (${insertOperation(operation, { from: sql`born`, host: sql`born.host_id`, ...leased })})`,
    ...(input.also ?? []),
  ]
  if (source) {
    parts.push(
      sql`hold as (${insertOperation(source.operation, { from: sql`born`, driven: true, ...leased })})`,
    )
    const snapshot = source.snapshot
    if (snapshot)
      parts.push(
        sql`saving as (${insertSavingSnapshot(
          snapshot.id,
          sql`(select ${snapshot.dockId}::uuid as id, ${dock.organizationId}::uuid as organization_id,
            ${snapshot.runtime}::text as runtime, ${snapshot.hostId}::uuid as host_id, ${snapshot.diskGiB}::int as disk_gib
            from born)`,
          now,
        )})`,
      )
  }
  try {
    const result = await sql<
      { held: number; candidate: string | null; placed: string | null } & (QuotaRefusal | { refused: null })
    >`
      with ${sql.join(parts, sql`, `)}
      select (select count(*) from held)::int as held, (select id from candidate) as candidate,
        (select id from placed) as placed, q.refused, q.allowed, q.used from (values (1)) as one left join quota q on true`.execute(
      db,
    )
    const row = result.rows[0]!
    if (row.held === 0) return { kind: 'source_changed' }
    if (row.refused !== null) throw quotaError(row)
    if (row.candidate === null) return { kind: 'no_host' }
    return row.placed === null ? { kind: 'key_taken' } : { kind: 'claimed', hostId: row.placed }
  } catch (error) {
    throw claimError(error)
  }
}

export type ExistingDockClaim = {
  dock: Pick<DockRow, 'id' | 'generation' | 'state'>
  operation: OperationRow<VersionedData>
  /** Empty if the operation does not change the state. */
  moves: readonly DockMove[]
  set?: RawBuilder<unknown>
  /** SQL condition under which the claim fails with `changed`. */
  unless?: RawBuilder<boolean>
  also?: readonly RawBuilder<unknown>[]
  /** Releases the Dock's reservation on its host. */
  release?: boolean
  /** The operation removes the Dock's disk, so it replaces a blocked operation; see {@link yieldsToDelete}. */
  removesDisk?: boolean
  /** Chooses a host, reserves room on it, and sets it on the Dock and on the operation. */
  placement?: { request: PlacementRequest; policy: PlacementPolicy; quota: Quota }
  lease: Lease
  now: Date
}

/**
 * Saves an operation on an existing Dock. Returns `changed` if the Dock is no longer as it was read, and `no_host` if no
 * host has room. Throws `dock_busy` if another operation holds the Dock and, with a placement, an error of the quota.
 */
export async function claimDock(
  db: Db,
  input: ExistingDockClaim,
): Promise<'claimed' | 'changed' | 'no_host'> {
  const { dock, operation, placement, now } = input
  const { why: _, ...cause } = operation.cause
  const moves = checkedMoves(input.moves)
  const last = moves.at(-1)
  const parts = [
    holdDock(dock.id),
    ...(placement
      ? [
          quotaCte(placement.quota, placement.request, afterHeld),
          sql`candidate as (${hostCandidate(placement.request, placement.policy, withinQuota)})`,
        ]
      : [
          sql`quota as (select null as refused, 0 as allowed, 0 as used where false)`,
          sql`candidate as (select null::uuid as id, null::text as runtime)`,
        ]),
    ...(input.release ? [holdHost] : []),
    sql`moved as (update docks d set updated_at = ${now}
      ${last ? sql`, state = ${last.to}, state_changed_at = ${now}` : sql``}
      ${placement ? sql`, host_id = c.id, runtime = c.runtime, placed = true` : sql``} ${input.release ? sql`, placed = false` : sql``} ${input.set ? sql`, ${input.set}` : sql``}
      from candidate c where d.id = ${dock.id} and d.generation = ${dock.generation}
        and d.state in (${sql.join(last ? [dock.state] : acceptedStates(dock.state))}) and not ${input.unless ?? sql<boolean>`false`}
        ${input.release ? sql`and ${afterSpot}` : sql``}
      returning d.*)`,
    sql`ended as (${input.removesDisk ? endYieldingOperation(operation, now, hasRow(moved)) : sql`select 1 where false`})`,
    // Only one operation may hold a Dock. Reading `ended` makes the replaced operation end before this one is inserted.
    sql`intent as (${insertOperation(operation, {
      lease: input.lease,
      now,
      from: sql`${moved}, (select count(*) from ended) as given_way`,
      ...(placement ? { host: sql`moved.host_id` } : {}),
    })})`,
    ...(placement ? [sql`placed as (${reserveRoom(placement.request, sql`candidate`, hasRow(moved))})`] : []),
    ...(last ? [sql`changes as (${insertChanges(sql`moved`, moves, cause, now)})`] : []),
    ...(input.release ? [releaseHost(dock.id)] : []),
    ...(input.also ?? []),
  ]
  try {
    const result = await sql<
      { candidates: number; moved: number; hostId: string | null } & (QuotaRefusal | { refused: null })
    >`
      with ${sql.join(parts, sql`, `)}
      select (select count(*) from candidate)::int as candidates, (select count(*) from moved)::int as moved,
        (select host_id from moved) as "hostId", q.refused, q.allowed, q.used from (values (1)) as one left join quota q on true`.execute(
      db,
    )
    const row = result.rows[0]!
    if (row.refused !== null) throw quotaError(row)
    if (row.candidates === 0) return 'no_host'
    if (placement) operation.hostId = row.hostId
    return row.moved === 0 ? 'changed' : 'claimed'
  } catch (error) {
    throw claimError(error)
  }
}
