/** Tables of notifications and alert preferences (migration 008). */
import type { AlertType } from '@dock/contract'
import type { ColumnType, Generated } from 'kysely'
import type { NullableTimestamp } from './accounts.ts'

export type NotificationsTable = {
  id: Generated<string>
  user_id: string
  organization_id: string
  event_id: string
  type: AlertType
  title: string
  body: string
  dock_id: string
  read_at: NullableTimestamp
  occurred_at: ColumnType<Date, Date, never>
}

export type OrganizationAlertSettingsTable = { organization_id: string; type: AlertType; enabled: boolean }
export type PersonalAlertSettingsTable = { user_id: string; type: AlertType; email_enabled: boolean }

export type NotificationTables = {
  notifications: NotificationsTable
  organization_alert_settings: OrganizationAlertSettingsTable
  personal_alert_settings: PersonalAlertSettingsTable
}
