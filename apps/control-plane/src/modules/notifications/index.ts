/** Public face of notifications: alerts for people's inboxes, and who wants which. */
export type { Alert } from './alert.ts'
export { alertStatement, raiseAlert } from './alert-statement.ts'
export { listNotifications } from './operations/list-notifications.ts'
export { type InboxContext, markAllNotificationsRead, markNotificationRead } from './operations/mark-read.ts'
export {
  readNotificationPreferences,
  setOrganizationPreference,
  setPersonalPreference,
} from './operations/preferences.ts'
export { pruneNotifications } from './prune-notifications.ts'
