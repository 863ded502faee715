/** The words of the audit log, for the dashboard and the command line. No part of the published package. */
export { auditActions } from '@dock/contract/audit-actions'
export * from '@dock/contract/audit-words'
