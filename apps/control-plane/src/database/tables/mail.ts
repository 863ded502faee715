/** The outbox (migrations 001, 008 and 052). */
import type { AlertType } from '@dock/contract'
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { NullableTimestamp, Timestamp } from './accounts.ts'

/** What a mail says that several alerts share. */
export type GatheredAlerts = {
  title: string
  body: string
  link: string
  linkLabel: string
  items: string[]
}

export type MailKind = 'account' | 'alert' | 'contact'

export type OutboxMailsTable = {
  id: Generated<string>
  kind: Generated<MailKind>
  recipient: string
  /** Of the recipient's address, in lower case. */
  domain: GeneratedAlways<string>
  subject: string
  body: string
  /** A path of the app or a whole URL. Null once the mail is not sent again. */
  link: string | null
  link_label: string | null
  organization_id: string | null
  organization_name: string | null
  /** The recipient, for alerts. */
  user_id: string | null
  alert_type: AlertType | null
  /** Alerts with this key are added to the mail. Null once it was claimed. */
  gather_key: string | null
  gathered: ColumnType<GatheredAlerts | null, never, null>
  status: Generated<'pending' | 'sent' | 'refused' | 'failed'>
  attempts: Generated<number>
  next_attempt_at: Timestamp
  sent_at: NullableTimestamp
  /** The latest reply of the mail server that was no acceptance. */
  reply_code: number | null
  error: string | null
  created_at: Timestamp
}

export type MailTables = { outbox_mails: OutboxMailsTable }
