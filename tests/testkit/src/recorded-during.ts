/** What the audit log got while something was done. */
import type { AuditAction, AuditMeans } from '@dock/contract'
import { sql } from 'kysely'
import type { FreshDatabase } from './fresh-database.ts'

export type Recorded = {
  action: AuditAction
  outcome: 'succeeded' | 'failed'
  actorId: string | null
  through: AuditMeans
  credentialId: string | null
  address: string | null
  organizationId: string | null
  target: { type: string; id: string; name: string | null } | null
  details: Record<string, string | number | boolean | null>
  /** In which organizations the entry stands as a copy. */
  copies: string[]
}

/** Runs `act` and returns the new entries, oldest first. Copies are no entries of their own. */
export async function recordedDuring(
  { db }: Pick<FreshDatabase, 'db'>,
  act: () => Promise<unknown>,
): Promise<Recorded[]> {
  const before = await sql<{ id: string }>`select id from audit_entries`.execute(db)
  await act()
  const { rows } = await sql<Recorded>`
    select e.action, e.outcome, e.actor_id as "actorId", e.through, e.credential_id as "credentialId", e.address,
      e.organization_id as "organizationId", e.details,
      case when e.target_type is not null
        then jsonb_build_object('type', e.target_type, 'id', e.target_id, 'name', e.target_name) end as target,
      array(select c.organization_id::text from audit_entries c where c.is_copy and c.at = e.at and c.action = e.action
        and c.actor_id is not distinct from e.actor_id and c.target_id is not distinct from e.target_id
        and c.details = e.details order by 1) as copies
    from audit_entries e where not e.is_copy and e.id <> all(${before.rows.map(({ id }) => id)}::uuid[])
    order by e.at, e.action, e.target_id`.execute(db)
  return rows
}
