/** The only SQL for keyed commands: a row says that the command may have run, for as long as its Dock exists. */
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

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

/** Not of a Dock that is stopped under zero data retention: the lock puts it before that stop's claim, or behind it. */
export const keepOutcome = async (db: Db, key: ExecKey, id: string, sealed: string): Promise<void> => {
  await sql`update exec_keys k set outcome_sealed = ${sealed} from (
      select d.id from docks d join organizations o on o.id = d.organization_id
      where d.id = ${key.dockId} and not (o.retention_enabled and d.state in ('archiving', 'archived'))
      for share of d) as keeping
    where k.id = ${id} and k.dock_id = keeping.id and k.organization_id = ${key.organizationId}`.execute(db)
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
  await sql`update exec_keys set outcome_sealed = null
    where outcome_sealed is not null and created_at <= ${before}`.execute(db)
}
