/**
 * An alert as a part of the statement that changes what it tells about: inbox rows for the members of the organization
 * and mails for those who want them are written with that change or not at all.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { type Alert, alertLinkPath, mailedByDefault } from './alert.ts'

const changeMade = sql<boolean>`exists (select 1 from moved)`

/**
 * `alerted as (…), alert_mails as (…)`: for the `also` of a Dock's change, whose `moved` part says whether it was made.
 * One alert a statement. An organization that has the type off is told nothing; closed accounts and addresses that
 * nobody verified get no mail.
 */
export function alertStatement(alert: Alert, when: RawBuilder<boolean> = changeMade): RawBuilder<unknown> {
  return sql`
  alerted as (
    insert into notifications (user_id, organization_id, event_id, type, title, body, dock_id, occurred_at)
    select m.user_id, m.organization_id, ${alert.eventId}::uuid, ${alert.type}::text, ${alert.title}::text,
      ${alert.body}::text, ${alert.dockId}::uuid, ${alert.at}::timestamptz
    from memberships m
    where m.organization_id = ${alert.organizationId}::uuid and ${when}
      and not exists (select 1 from organization_alert_settings s
        where s.organization_id = m.organization_id and s.type = ${alert.type}::text and not s.enabled)
    on conflict on constraint notifications_event do nothing
    returning user_id),
  alert_mails as (
    insert into outbox_mails (recipient, subject, body, link_path)
    select u.email, ${alert.title}::text, ${alert.body}::text, ${alertLinkPath(alert.dockId)}::text
    from alerted a join users u on u.id = a.user_id
    left join personal_alert_settings p on p.user_id = a.user_id and p.type = ${alert.type}::text
    where u.email_verified and u.closed_at is null
      and coalesce(p.email_enabled, ${mailedByDefault[alert.type]}::boolean))`
}

/** Tells of something that changes no Dock (a disk that fills): a statement of its own. */
export async function raiseAlert(db: Db, alert: Alert): Promise<void> {
  await sql`with ${alertStatement(alert, sql<boolean>`true`)} select 1`.execute(db)
}
