/** Alerts to users: who receives them, and which are mailed by default. */
import { type AlertType, appPaths } from '@dock/contract'
import type { MailLink } from '../../mail/index.ts'

export type Alert = {
  type: AlertType
  dockId: string
  organizationId: string
  title: string
  body: string
  at: Date
  /** Identifies the event. Raising an alert again with the same id has no effect. */
  eventId: string
  /** Alerts of the same type and cause share a mail. The inbox has an entry for each. */
  shared?: {
    cause: string
    /** What this alert is about, for the list in the mail. */
    item: string
    /** What the mail says if it has several items. `{count}` in the title stands for their number. */
    title: string
    body: string
  }
}

/** Alerts that need action are mailed by default. The others only appear in the inbox. */
export const mailedByDefault = {
  stopped_responding: true,
  stop_refused: true,
  disk_warning: false,
  disk_full: true,
  auto_recovered: false,
  held_after_loss: true,
} as const satisfies Record<AlertType, boolean>

/** Completes "Dock mails you when", for each type of alert. */
export const alertOccasion = {
  stopped_responding: 'a Dock stops responding',
  stop_refused: 'a Dock could not be stopped',
  disk_warning: 'the disk of a Dock is nearly full',
  disk_full: 'the disk of a Dock is full',
  auto_recovered: 'a Dock was restarted',
  held_after_loss: 'a Dock ended and is not restarted',
} as const satisfies Record<AlertType, string>

/** All members of the Dock's organization receive alerts. */
export const alertAudience = 'members'

/** The link of a mail about one alert, and of a mail about several. */
export function alertLink(dockId: string): MailLink {
  return { label: 'Open the Dock', to: appPaths.dock(dockId) }
}
export const alertsLink: MailLink = { label: 'Open your Docks', to: appPaths.docks() }
