/** Preferences: which alerts an organization raises, and which of them each user gets by mail. */
import { type AlertType, alertTypes, type NotificationPreference } from '@dock/contract'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { cancelAlertMails } from '../../mail/index.ts'
import type { Caller, Member } from '../accounts/index.ts'
import { alertAudience, mailedByDefault } from './alert.ts'

/** Returns the preferences of the organization and of the caller for each type of alert. */
export async function readNotificationPreferences(
  db: Db,
  member: Member,
): Promise<{ organizationId: string; preferences: NotificationPreference[] }> {
  const { organizationId, userId } = member
  const [organization, personal] = await Promise.all([
    db
      .selectFrom('organization_alert_settings')
      .select(['type', 'enabled'])
      .where('organization_id', '=', organizationId)
      .execute(),
    db
      .selectFrom('personal_alert_settings')
      .select(['type', 'email_enabled'])
      .where('user_id', '=', userId)
      .execute(),
  ])
  const enabled = new Map(organization.map((row) => [row.type, row.enabled]))
  const mailed = new Map(personal.map((row) => [row.type, row.email_enabled]))
  const preferences = alertTypes.map((type) => ({
    type,
    audience: alertAudience,
    enabled: enabled.get(type) ?? true,
    emailEnabled: mailed.get(type) ?? mailedByDefault[type],
  }))
  return { organizationId, preferences }
}

/** Turns a type of alert on or off for the whole organization. */
export async function setOrganizationPreference(
  db: Db,
  { organizationId }: Member,
  { type, enabled }: { type: AlertType; enabled: boolean },
): Promise<{ organizationId: string; type: AlertType; enabled: boolean }> {
  await db
    .insertInto('organization_alert_settings')
    .values({ organization_id: organizationId, type, enabled })
    .onConflict((conflict) => conflict.columns(['organization_id', 'type']).doUpdateSet({ enabled }))
    .execute()
  return { organizationId, type, enabled }
}

/** Turns the mail for a type of alert on or off for the caller. Off also cancels mails that wait. */
export async function setPersonalPreference(
  db: Db,
  caller: Caller,
  { type, emailEnabled }: { type: AlertType; emailEnabled: boolean },
): Promise<{ type: AlertType; emailEnabled: boolean }> {
  await db
    .insertInto('personal_alert_settings')
    .values({ user_id: caller.userId, type, email_enabled: emailEnabled })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'type']).doUpdateSet({ email_enabled: emailEnabled }),
    )
    .execute()
  if (!emailEnabled) await cancelAlertMails(db, caller.userId, { type })
  return { type, emailEnabled }
}

/** Turns the mail for a type of alert off for a person. Does nothing if the person was erased. */
export async function turnOffAlertMails(db: Db, userId: string, type: AlertType): Promise<void> {
  await sql`insert into personal_alert_settings (user_id, type, email_enabled)
    select id, ${type}::text, false from users where id = ${userId}
    on conflict (user_id, type) do update set email_enabled = false`.execute(db)
}
