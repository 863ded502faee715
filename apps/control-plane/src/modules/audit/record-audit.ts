/** Writes entries of the audit log, in the transaction of the change that they tell. */
import type { AuditAction, AuditMeans } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import type { Caller } from '../accounts/index.ts'

/** Who acts. The platform and the operator's programs have no person. */
export type Actor =
  | Pick<Caller, 'userId' | 'kind' | 'credentialId' | 'address'>
  | { kind: Extract<AuditMeans, 'platform' | 'operator'> }

export type AuditRecord = {
  action: AuditAction
  now: Date
  /** `own`: it concerns the account or a key of the person who acts, and so each of their organizations. Null: the instance alone. */
  organizationId: string | 'own' | null
  /** What was changed. A person's name is never written: it is looked up. */
  target?: { type: string; id: string; name?: string | null }
  /** Never a secret, and no content of a command. Bounded by who calls. */
  details?: Readonly<Record<string, string | number | boolean | null>>
  outcome?: 'failed'
}

/** `db` is the transaction of the change. Only a failed attempt, which changes nothing, has none. */
export async function recordAudit(db: Db, by: Actor, entry: AuditRecord): Promise<void> {
  const person = 'userId' in by ? by : undefined
  const { target, organizationId } = entry
  const place =
    organizationId === 'own'
      ? sql`select null::uuid as organization_id, false as is_copy
          union all select organization_id, true from memberships where user_id = ${person?.userId ?? null}::uuid`
      : sql`select ${organizationId}::uuid as organization_id, false as is_copy`
  await sql`
    insert into audit_entries (at, organization_id, is_copy, action, outcome, actor_id, through, credential_id, address,
      target_type, target_id, target_name, details)
    select ${entry.now}::timestamptz, p.organization_id, p.is_copy, ${entry.action}::text,
      ${entry.outcome ?? 'succeeded'}::text, ${person?.userId ?? null}::uuid, ${by.kind}::text,
      ${person?.credentialId ?? null}::text, ${person?.address ?? null}::text, ${target?.type ?? null}::text,
      ${target?.id ?? null}::text, ${target?.name ?? null}::text, ${JSON.stringify(entry.details ?? {})}::jsonb
    from (${place}) p`.execute(db)
}
