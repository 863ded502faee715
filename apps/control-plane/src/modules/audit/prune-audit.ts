/** Ends entries of the audit log: the old ones, and what tells who an erased person was. */
import { auditKeptDays } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import { newUuid } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { batchRows, deleteInBatches } from '../../database/delete-in-batches.ts'

export const auditKeptMs = auditKeptDays * 24 * 3_600_000

/** Deletes the entries of all organizations that are too old, in batches. */
export async function pruneAudit({ db, clock }: { db: Db; clock: Clock }): Promise<void> {
  const before = new Date(clock.now().getTime() - auditKeptMs)
  await deleteInBatches(
    db,
    sql`delete from audit_entries where id in (
      select id from audit_entries where at < ${before} limit ${batchRows})`,
  )
}

/**
 * Replaces a person in the audit log by a pseudonym, which nothing leads back to them. What only they could name loses its
 * name: their keys, and all that was in `ownOrganizations`, which end with them.
 */
export async function forgetPerson(
  tx: Tx,
  person: { id: string; email: string },
  ownOrganizations: readonly string[],
): Promise<void> {
  const pseudonym = newUuid()
  await sql`update audit_entries set actor_id = ${pseudonym}::uuid, address = null, credential_id = null,
      target_name = case when target_type in ('api_key', 'ssh_key') then null else target_name end,
      details = details - 'machine' - 'fingerprint'
    where actor_id = ${person.id}`.execute(tx)
  await sql`update audit_entries set target_id = ${pseudonym},
      address = case when actor_id is null then null else address end
    where target_type = 'person' and target_id = ${person.id}`.execute(tx)
  await sql`update audit_entries set target_id = ${pseudonym}, target_name = null
    where target_type = 'address' and target_id = ${person.email.toLowerCase()}`.execute(tx)
  await sql`update audit_entries set target_name = null, details = '{}'
    where organization_id = any(${ownOrganizations}::uuid[])`.execute(tx)
}
