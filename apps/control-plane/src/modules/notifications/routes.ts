/** Routes of the inbox and of alert preferences. */
import type { Handlers } from '../../routing/handler.ts'
import { listNotifications } from './list-notifications.ts'
import { type InboxContext, markAllNotificationsRead, markNotificationRead } from './mark-read.ts'
import {
  readNotificationPreferences,
  setOrganizationPreference,
  setPersonalPreference,
} from './preferences.ts'

export function notificationRoutes(context: InboxContext): Handlers {
  return {
    listNotifications: ({ caller, query }) => listNotifications(context.db, caller, query),
    markAllNotificationsRead: ({ caller }) => markAllNotificationsRead(context, caller),
    markNotificationRead: ({ caller, params }) => markNotificationRead(context, caller, params.id),
    readNotificationPreferences: ({ caller }) => readNotificationPreferences(context.db, caller),
    setOrganizationNotificationPreference: ({ caller, body }) =>
      setOrganizationPreference(context.db, caller, body),
    setPersonalNotificationPreference: ({ caller, body }) => setPersonalPreference(context.db, caller, body),
  }
}
