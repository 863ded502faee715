/** What alerts there are to a person: whom they reach, and which of them are mailed unless somebody says otherwise. */
import type { AlertType } from '@dock/contract'

export type Alert = {
  type: AlertType
  dockId: string
  organizationId: string
  title: string
  body: string
  at: Date
  /** One for the occasion: telling of it again changes nothing. */
  eventId: string
}

/** Mailed by default: what somebody must see to. The rest waits in the inbox. */
export const mailedByDefault = {
  stopped_responding: true,
  stop_refused: true,
  disk_warning: false,
  disk_full: true,
  auto_recovered: false,
  held_after_loss: true,
} as const satisfies Record<AlertType, boolean>

/** Who is told: every member of the Dock's organization. */
export const alertAudience = 'members'

/** The page of the app that an alert leads to. */
export function alertLinkPath(dockId: string): string {
  return `/docks/${dockId}`
}
