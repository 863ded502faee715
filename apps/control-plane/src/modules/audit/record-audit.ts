/** Writes entries of the audit log, in the transaction of the change that they tell. */
import type { AuditAction, AuditMeans } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** Who acts: a `Caller`, or the platform and the operator's programs, which have no person. */
export type Actor = { kind: AuditMeans; userId?: string; credentialId?: string; address?: string | undefined }

export type AuditRecord = {
  action: AuditAction
  now: Date
  /**
   * `own`: it concerns the account or a key of a person, and so each of their organizations. It is the person who acts, or
   * the target if none does. Null: the instance alone.
   */
  organizationId: string | 'own' | null
  /** What was changed. A person's name is never written: it is looked up. */
  target?: { type: string; id: string; name?: string | null }
  /** Never a secret, and no content of a command. Bounded by who calls. */
  details?: Readonly<Record<string, string | number | boolean | null>>
  outcome?: 'failed'
}

/** `db` is the transaction of the change. Only a failed attempt, which changes nothing, has none. */
export async function recordAudit(db: Db, by: Actor, entry: AuditRecord): Promise<void> {
  const { target, organizationId } = entry
  const owner = by.userId ?? (target?.type === 'person' ? target.id : null)
  const place =
    organizationId === 'own'
      ? sql`select null::uuid as organization_id, false as is_copy
          union all select organization_id, true from memberships where user_id = ${owner}::uuid`
      : sql`select ${organizationId}::uuid as organization_id, false as is_copy`
  await sql`
    insert into audit_entries (at, organization_id, is_copy, action, outcome, actor_id, through, credential_id, address,
      target_type, target_id, target_name, details)
    select ${entry.now}::timestamptz, p.organization_id, p.is_copy, ${entry.action}::text,
      ${entry.outcome ?? 'succeeded'}::text, ${by.userId ?? null}::uuid, ${by.kind}::text,
      ${by.credentialId ?? null}::text, ${by.address ?? null}::text, ${target?.type ?? null}::text,
      ${target?.id ?? null}::text, ${target?.name ?? null}::text, ${JSON.stringify(entry.details ?? {})}::jsonb
    from (${place}) p`.execute(db)
}
