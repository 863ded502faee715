/** The audit log: who did what. Other modules record into it, in the transactions of their changes. */
export { auditNames, auditText, changesOf } from './changes-of.ts'
export { type AuditModule, createAuditModule } from './module.ts'
export { forgetPerson } from './prune-audit.ts'
export { type Actor, type AuditRecord, recordAudit } from './record-audit.ts'
export { recordDockEntered } from './record-dock-entered.ts'
export { recordFailedSignIn } from './record-failed-sign-in.ts'
