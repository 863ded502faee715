/** Routes of the inbox and of alert preferences. */
import {
  type InboxContext,
  listNotifications,
  markAllNotificationsRead,
  markNotificationRead,
  readNotificationPreferences,
  setOrganizationPreference,
  setPersonalPreference,
} from '../../modules/notifications/index.ts'
import type { Handlers } from '../../routing/handler.ts'

export function notificationHandlers(context: InboxContext): Handlers {
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
