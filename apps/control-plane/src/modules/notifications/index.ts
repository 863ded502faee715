/** Public face of notifications: alerts for people's inboxes. */
export type { Alert } from './alert.ts'
export { alertStatement, raiseAlert } from './alert-statement.ts'
