import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import type { Actor } from './record-audit.ts'

type PersonWhoEnters = Required<Pick<Actor, 'kind' | 'userId' | 'credentialId'>> & Pick<Actor, 'address'>

const onceInMs = 600_000

/** A UUID of version 8 that follows from the text. */
const idFrom = (text: string): string => {
  const hex = createHash('sha256').update(text).digest('hex').slice(0, 32).split('')
  hex[12] = '8'
  hex[16] = '8'
  return hex.join('')
}

/**
 * Records that a person entered a Dock, once in 10 minutes for each person, credential, Dock and means: a script that
 * connects often does not fill the log. Of two who race the id admits one.
 */
export async function recordDockEntered(
  db: Db,
  { userId, kind, credentialId, address }: PersonWhoEnters,
  dock: { id: string; organizationId: string; name: string },
  { by, now }: { by: 'terminal' | 'ssh'; now: Date },
): Promise<void> {
  const since = new Date(now.getTime() - onceInMs)
  const id = idFrom([userId, credentialId, dock.id, by, Math.floor(now.getTime() / onceInMs)].join(' '))
  await sql`
    insert into audit_entries (id, at, organization_id, action, actor_id, through, credential_id, address, target_type,
      target_id, target_name, details)
    select ${id}::uuid, ${now}::timestamptz, ${dock.organizationId}::uuid, 'dock.entered', ${userId}::uuid, ${kind}::text,
      ${credentialId}::text, ${address ?? null}::text, 'dock', ${dock.id}::text, ${dock.name}::text,
      jsonb_build_object('by', ${by}::text)
    where not exists (select 1 from audit_entries e
      where e.organization_id = ${dock.organizationId} and e.at > ${since} and e.action = 'dock.entered'
        and e.actor_id = ${userId} and e.credential_id = ${credentialId} and e.target_id = ${dock.id}
        and e.details ->> 'by' = ${by})
    on conflict (id) do nothing`.execute(db)
}
