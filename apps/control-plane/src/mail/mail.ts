/** What mails say. Their looks are in `render-mail.ts`. */
import type { AlertType } from '@dock/contract'

export type MailOrganization = { id: string; name: string }

/** `to` is a path of the app or a whole URL. */
export type MailLink = { label: string; to: string }

/** A mail about an account: a confirmation, a new password, an invitation. It goes before all alerts. */
export type Mail = {
  recipient: string
  /** The heading, and the start of the subject. */
  title: string
  /** Paragraphs, separated by empty lines. */
  body: string
  link: MailLink
  organization?: MailOrganization
}

/** What a mail says that tells of several alerts of one cause. */
export type SharedAlert = {
  /** Alerts of the same type, organization and cause go into one mail, as long as it was not sent. */
  cause: string
  /** What this alert is about, for the list in the mail. */
  item: string
  /** `{count}` stands for the number of items. */
  title: string
  body: string
  link: MailLink
}

/** The mail of an alert, for all its recipients. */
export type AlertMail = {
  type: AlertType
  title: string
  body: string
  link: MailLink
  organizationId: string
  at: Date
  shared?: SharedAlert
}

/** The link with which a person turns off the mails of a type, without signing in. */
export type UnsubscribeLink = {
  url: string
  /** Completes "Dock mails you when". */
  when: string
}
