/**
 * Deletes records that outlive their Docks: state changes, events and idempotency keys. They are deleted by age and with
 * their organization.
 */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { batchRows, deleteInBatches } from '../../../database/delete-in-batches.ts'

const dayMs = 24 * 3_600_000
export const stateChangesKeptMs = 90 * dayMs
export const eventsKeptMs = 30 * dayMs

/**
 * Deletes old state changes and events. The newest state change of each existing Dock is kept: when an unreachable host
 * returns, it tells the Dock's previous state.
 */
export async function pruneDockRecords({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const now = clock.now()
  const before = (keptMs: number): Date => new Date(now.getTime() - keptMs)
  await deleteInBatches(
    db,
    sql`delete from dock_state_changes where id in (
      select c.id from dock_state_changes c where c.at < ${before(stateChangesKeptMs)}
        and (exists (select 1 from dock_state_changes n where n.dock_id = c.dock_id and n.id > c.id)
          or not exists (select 1 from docks d where d.id = c.dock_id))
      limit ${batchRows})`,
  )
  await deleteInBatches(
    db,
    sql`delete from dock_events where id in (
      select id from dock_events where occurred_at < ${before(eventsKeptMs)} limit ${batchRows})`,
  )
}

/**
 * Deletes all records of an organization that has no Docks left. Returns the number of tables that still have rows: call
 * again until it is 0.
 */
export async function removeDockRecords(db: Db, organizationId: string): Promise<number> {
  const statements = [
    sql`delete from dock_state_changes where organization_id = ${organizationId} and id in (
      select id from dock_state_changes where organization_id = ${organizationId} limit ${batchRows})`,
    sql`delete from dock_events where organization_id = ${organizationId} and id in (
      select id from dock_events where organization_id = ${organizationId} limit ${batchRows})`,
    sql`delete from idempotency_keys where organization_id = ${organizationId} and key in (
      select key from idempotency_keys where organization_id = ${organizationId} limit ${batchRows})`,
  ]
  let left = 0
  for (const statement of statements) if (!(await deleteInBatches(db, statement))) left += 1
  return left
}
