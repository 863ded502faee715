/** Public interface of the notifications module: alerts in users' inboxes, and the preferences for them. */
export type { Alert } from './alert.ts'
export { alertStatement, raiseAlert } from './alert-statement.ts'
export { createNotificationsModule } from './module.ts'
export { pruneNotifications } from './prune-notifications.ts'
