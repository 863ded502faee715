/**
 * All SQL for commands with an idempotency key. A row means that the command may have run. It exists as long as its Dock.
 */
import { limits } from '@dock/contract'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { batchRows, deleteInBatches } from '../../../database/delete-in-batches.ts'

export type ExecKey = { dockId: string; organizationId: string; key: string }
export type EarlierExec = { id: string; outcomeSealed: string | null }

/** Claims the key. Returns the id of the new row, or null if the key is claimed already. */
export async function claimExecKey(db: Db, key: ExecKey, now: Date): Promise<string | null> {
  return (
    (
      await sql<{ id: string }>`insert into exec_keys (dock_id, organization_id, key, created_at)
      values (${key.dockId}, ${key.organizationId}, ${key.key}, ${now}) on conflict do nothing returning id`.execute(
        db,
      )
    ).rows[0]?.id ?? null
  )
}

/** Returns the row of an earlier command with this key, or null. */
export async function findExecKey(db: Db, key: ExecKey): Promise<EarlierExec | null> {
  return (
    (
      await sql<EarlierExec>`select id, outcome_sealed as "outcomeSealed" from exec_keys
      where dock_id = ${key.dockId} and organization_id = ${key.organizationId} and key = ${key.key}`.execute(
        db,
      )
    ).rows[0] ?? null
  )
}

/** Most of the oldest outcomes that one new outcome may displace. */
const displacedMax = 100

/** SQL for the oldest kept outcomes, each with its position and the total size of those before it. */
const oldest = (which: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select f.id, row_number() over first as place, sum(f.outcome_bytes) over first - f.outcome_bytes as freed
  from (select k.id, k.created_at, k.outcome_bytes from exec_keys k where ${which} and k.outcome_bytes is not null
    order by k.created_at, k.id limit ${displacedMax}) as f window first as (order by f.created_at, f.id)`

/**
 * Saves a command's outcome. If the Dock or its organization exceeds its budget, the oldest outcomes are dropped. Under
 * zero data retention, nothing is saved for a Dock that is stopping or stopped; the row lock orders this statement before
 * or after the claim of such a stop.
 */
export async function keepOutcome(db: Db, key: ExecKey, id: string, sealed: string): Promise<void> {
  const { dockId, organizationId } = key
  const bytes = Buffer.byteLength(sealed)
  const { keptBytesPerDockMax, keptBytesPerOrganizationMax, keptPerDockMax } = limits.exec
  await sql`
    with keeping as (select d.id from docks d join organizations o on o.id = d.organization_id
      where d.id = ${dockId} and not (o.retention_enabled and d.state in ('archiving', 'archived'))
      for share of d),
    kept as (select count(*) as n, coalesce(sum(k.outcome_bytes), 0) as bytes from exec_keys k
      where k.dock_id = ${dockId} and k.outcome_bytes is not null),
    over_dock as (select n + 1 - ${keptPerDockMax}::int as n, bytes + ${bytes}::int - ${keptBytesPerDockMax}::int as bytes
      from kept where n >= ${keptPerDockMax}::int or bytes + ${bytes}::int > ${keptBytesPerDockMax}::int),
    over_organization as (select s.result_bytes + ${bytes}::int - ${keptBytesPerOrganizationMax}::int as bytes
      from organization_storage s where s.organization_id = ${organizationId}
        and s.result_bytes + ${bytes}::int > ${keptBytesPerOrganizationMax}::int),
    of_dock as (${oldest(sql`k.dock_id = ${dockId} and exists (select 1 from over_dock)`)}),
    of_organization as (${oldest(
      sql`k.organization_id = ${organizationId} and exists (select 1 from over_organization)`,
    )}),
    displaced as (select k.id from exec_keys k where exists (select 1 from keeping) and k.id in (
        select o.id from of_dock o, over_dock x where o.place <= x.n or o.freed < x.bytes
        union all select o.id from of_organization o, over_organization x where o.freed < x.bytes)
      for update of k skip locked),
    dropped as (update exec_keys set outcome_sealed = null where id in (select id from displaced))
    update exec_keys k set outcome_sealed = ${sealed} from keeping
    where k.id = ${id} and k.dock_id = keeping.id and k.organization_id = ${organizationId}`.execute(db)
}

/** Drops all outcomes of a Dock. Its keys stay, so that no command runs again. */
export async function dropOutcomesOf(
  db: Db,
  { dockId, organizationId }: Omit<ExecKey, 'key'>,
): Promise<void> {
  await sql`update exec_keys set outcome_sealed = null
    where dock_id = ${dockId} and organization_id = ${organizationId} and outcome_sealed is not null`.execute(
    db,
  )
}

/** Releases the key of a command that did not run. */
export async function freeExecKey(db: Db, key: ExecKey, id: string): Promise<void> {
  await sql`delete from exec_keys
    where id = ${id} and dock_id = ${key.dockId} and organization_id = ${key.organizationId}`.execute(db)
}

/** Drops outcomes older than `before`, of all organizations. The rows stay, so that no command runs again. */
export async function dropOutcomes(db: Db, before: Date): Promise<void> {
  await deleteInBatches(
    db,
    sql`update exec_keys set outcome_sealed = null where id in (select id from exec_keys
      where outcome_sealed is not null and created_at <= ${before} limit ${batchRows} for update skip locked)`,
  )
}
