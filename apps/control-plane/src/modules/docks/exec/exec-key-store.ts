/** The only SQL for keyed commands: a row says that the command may have run, for as long as its Dock exists. */
import { limits } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { batchRows, deleteBatches } from '../../../database/delete-batches.ts'

export type ExecKey = { dockId: string; organizationId: string; key: string }
export type EarlierExec = { id: string; outcomeSealed: string | null }

/** The id of the row that claims the key for this command, or null when there is one already. */
export const claimExecKey = async (db: Db, key: ExecKey, now: Date): Promise<string | null> =>
  (
    await sql<{ id: string }>`insert into exec_keys (dock_id, organization_id, key, created_at)
      values (${key.dockId}, ${key.organizationId}, ${key.key}, ${now}) on conflict do nothing returning id`.execute(
      db,
    )
  ).rows[0]?.id ?? null

export const findExecKey = async (db: Db, key: ExecKey): Promise<EarlierExec | null> =>
  (
    await sql<EarlierExec>`select id, outcome_sealed as "outcomeSealed" from exec_keys
      where dock_id = ${key.dockId} and organization_id = ${key.organizationId} and key = ${key.key}`.execute(
      db,
    )
  ).rows[0] ?? null

/** How many of an organization's oldest outcomes one new outcome may displace. */
const displacedMax = 100

/**
 * Not of a Dock that is stopped under zero data retention: the lock puts it before that stop's claim, or behind it. The
 * oldest outcomes of the Dock and of its organization are dropped past their budgets.
 */
export const keepOutcome = async (db: Db, key: ExecKey, id: string, sealed: string): Promise<void> => {
  const { dockId, organizationId } = key
  const bytes = Buffer.byteLength(sealed)
  const { keptBytesPerDockMax, keptBytesPerOrganizationMax, keptPerDockMax } = limits.exec
  await sql`
    with keeping as (select d.id from docks d join organizations o on o.id = d.organization_id
      where d.id = ${dockId} and not (o.retention_enabled and d.state in ('archiving', 'archived'))
      for share of d),
    of_dock as (select k.id, row_number() over newest as place, sum(k.outcome_bytes) over newest as bytes
      from exec_keys k where k.dock_id = ${dockId} and k.organization_id = ${organizationId}
        and k.outcome_bytes is not null window newest as (order by k.created_at desc, k.id)),
    excess as (select s.result_bytes + ${bytes}::int - ${keptBytesPerOrganizationMax}::int as bytes
      from organization_storage s where s.organization_id = ${organizationId}),
    oldest as (select k.id, sum(k.outcome_bytes) over (order by k.created_at, k.id) - k.outcome_bytes as freed
      from (select id, created_at, outcome_bytes from exec_keys where organization_id = ${organizationId}
        and outcome_bytes is not null and exists (select 1 from excess where bytes > 0)
        order by created_at, id limit ${displacedMax}) as k),
    displaced as (select k.id from exec_keys k where exists (select 1 from keeping) and k.id in (
        select id from of_dock where place >= ${keptPerDockMax}::int or bytes + ${bytes}::int > ${keptBytesPerDockMax}::int
        union all select id from oldest, excess where oldest.freed < excess.bytes)
      for update of k skip locked),
    dropped as (update exec_keys set outcome_sealed = null where id in (select id from displaced))
    update exec_keys k set outcome_sealed = ${sealed} from keeping
    where k.id = ${id} and k.dock_id = keeping.id and k.organization_id = ${organizationId}`.execute(db)
}

/** Drops all outcomes of a Dock; its keys stay. */
export const dropOutcomesOf = async (
  db: Db,
  { dockId, organizationId }: Omit<ExecKey, 'key'>,
): Promise<void> => {
  await sql`update exec_keys set outcome_sealed = null
    where dock_id = ${dockId} and organization_id = ${organizationId} and outcome_sealed is not null`.execute(
    db,
  )
}

/** The command is known not to have run: its key is free again. */
export const freeExecKey = async (db: Db, key: ExecKey, id: string): Promise<void> => {
  await sql`delete from exec_keys
    where id = ${id} and dock_id = ${key.dockId} and organization_id = ${key.organizationId}`.execute(db)
}

/** Drops outcomes of every tenant that are older; the rows stay, so that no command runs again. */
export const dropOutcomes = async (db: Db, before: Date): Promise<void> => {
  await deleteBatches(
    db,
    sql`update exec_keys set outcome_sealed = null where id in (select id from exec_keys
      where outcome_sealed is not null and created_at <= ${before} limit ${batchRows} for update skip locked)`,
  )
}
