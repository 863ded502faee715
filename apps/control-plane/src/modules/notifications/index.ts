/** Public interface of the notifications module: alerts in users' inboxes, and the preferences for them. */
export type { Alert } from './alert.ts'
export { alertStatement, raiseAlert } from './alert-statement.ts'
export { listNotifications } from './list-notifications.ts'
export { type InboxContext, markAllNotificationsRead, markNotificationRead } from './mark-read.ts'
export { createNotificationsModule, type NotificationsModule } from './module.ts'
export {
  readNotificationPreferences,
  setOrganizationPreference,
  setPersonalPreference,
} from './preferences.ts'
export { pruneNotifications } from './prune-notifications.ts'
export { createUnsubscribing, type Unsubscribing } from './unsubscribing.ts'
