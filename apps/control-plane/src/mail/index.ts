/** Public interface of the outbox: saves mails with their cause, and sends them. */
export { createMail, type MailService } from './create-mail.ts'
export { escapeHtml } from './escape-html.ts'
export type { AlertMail, Mail, MailLink, SharedAlert, UnsubscribeLink } from './mail.ts'
export { createFileTransport, createSmtpTransport, type MailTransport } from './mail-transport.ts'
export { createMailer } from './mailer.ts'
export {
  cancelAlertMails,
  deleteMailsTo,
  insertAlertMails,
  recordContactMail,
  saveMail,
} from './outbox-store.ts'
export { pruneMails } from './prune-mails.ts'
export { type Instance, instanceOf, renderMail } from './render-mail.ts'
