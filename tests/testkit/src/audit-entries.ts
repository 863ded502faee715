/** Reads the audit log of a test's database. */
import type { AuditEntry } from '@dock/contract'
import type { Db } from '@dock/control-plane/src/database/database.ts'
import { sql } from 'kysely'

export type ToldEntry = Pick<AuditEntry, 'action' | 'outcome' | 'through' | 'details'> & {
  by: string | null
  target: [type: string, id: string, name: string | null]
}

/** Returns the entries that concern an organization (null: the instance alone), oldest first. */
export async function auditEntries(db: Db, organizationId: string | null): Promise<ToldEntry[]> {
  const { rows } = await sql<ToldEntry>`select action, outcome, through, details, actor_id as by,
      jsonb_build_array(target_type, target_id, target_name) as target
    from audit_entries where organization_id is not distinct from ${organizationId}::uuid and not is_copy
    order by at, id`.execute(db)
  return rows
}

/** Returns true if the text stands anywhere in the audit log. */
export async function auditTells(db: Db, text: string): Promise<boolean> {
  const { rows } = await sql`select 1 from audit_entries e where e::text like ${`%${text}%`} limit 1`.execute(
    db,
  )
  return rows.length > 0
}
