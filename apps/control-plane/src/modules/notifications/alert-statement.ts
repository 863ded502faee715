/**
 * SQL that raises an alert as a part of the statement that makes the change. The inbox rows of the organization's
 * members and the mails to those who want them are written atomically with the change.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { insertAlertMails } from '../../mail/index.ts'
import { type Alert, alertLink, alertsLink, mailedByDefault } from './alert.ts'

/**
 * Returns the CTEs `alerted as (…), alert_mails as (…)`, to be passed as `also` of a Dock's change. The alert is raised if
 * `when` holds, for example that the change was made. A statement can contain one alert. An organization that
 * has disabled the type gets no alert. Closed accounts and unverified addresses get no mail.
 */
export function alertStatement(alert: Alert, when: RawBuilder<boolean>): RawBuilder<unknown> {
  const mail = {
    type: alert.type,
    title: alert.title,
    body: alert.body,
    link: alertLink(alert.dockId),
    organizationId: alert.organizationId,
    at: alert.at,
    ...(alert.shared ? { shared: { ...alert.shared, link: alertsLink } } : {}),
  }
  const recipients = sql`select a.user_id, u.email from alerted a join users u on u.id = a.user_id
    left join personal_alert_settings p on p.user_id = a.user_id and p.type = ${alert.type}::text
    where u.email_verified and u.closed_at is null
      and coalesce(p.email_enabled, ${mailedByDefault[alert.type]}::boolean)`
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
  alert_mails as (${insertAlertMails(mail, recipients)})`
}

/**
 * Raises an alert in its own statement, for an event that does not change a Dock's row, such as a disk that fills up.
 */
export async function raiseAlert(db: Db, alert: Alert): Promise<void> {
  await sql`with ${alertStatement(alert, sql<boolean>`true`)} select 1`.execute(db)
}
