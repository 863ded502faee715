/** Alerts to users: who receives them, and which are mailed by default. */
import type { AlertType } from '@dock/contract'

export type Alert = {
  type: AlertType
  dockId: string
  organizationId: string
  title: string
  body: string
  at: Date
  /** Identifies the event. Raising an alert again with the same id has no effect. */
  eventId: string
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

/** All members of the Dock's organization receive alerts. */
export const alertAudience = 'members'

/** Returns the path of the page in the app that an alert links to. */
export function alertLinkPath(dockId: string): string {
  return `/docks/${dockId}`
}
