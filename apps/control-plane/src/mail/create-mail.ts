/** Constructs what sends mails: the transport, the mailer of the outbox, and the removal of old mails. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../database/database.ts'
import { createTimers } from '../engine/index.ts'
import type { Mail } from './mail.ts'
import { createFileTransport, createSmtpTransport, type MailTransport } from './mail-transport.ts'
import { createMailer, type MailerOptions } from './mailer.ts'
import { deleteMailsAbout, saveMail } from './outbox-store.ts'
import { pruneMails } from './prune-mails.ts'
import { type Instance, instanceOf } from './render-mail.ts'

export type MailService = {
  transport: MailTransport
  instance: Instance
  /** Saves a mail to the outbox and starts to send it. */
  send(mail: Mail): Promise<void>
  /** Call after a mail was saved to the outbox and committed. */
  wake(): void
  /** Deletes all mails about an organization, and what was stored of them. Returns 0: none is left. */
  removeAbout(organizationId: string): Promise<number>
  start(): void
  /** Resolves when no mail is being sent. */
  stop(): Promise<void>
}

const pruneEveryMs = 3_600_000

export function createMail(options: {
  db: Db
  clock: Clock
  logger: Logger
  /** Mails are files in `folder` without it. */
  smtpUrl: string | undefined
  folder: string
  mailFrom: string
  appUrl: string
  unsubscribeLink: MailerOptions['unsubscribeLink']
}): MailService {
  const { db, clock, logger, smtpUrl, folder, mailFrom, appUrl } = options
  const instance = instanceOf(appUrl)
  const sender = { name: `Dock on ${instance.name}`, address: mailFrom }
  const transport = smtpUrl ? createSmtpTransport(smtpUrl, sender) : createFileTransport(folder, sender)
  const { unsubscribeLink } = options
  const mailer = createMailer({ db, clock, logger, transport, instance, unsubscribeLink })
  const timers = createTimers({
    clock,
    logger,
    tasks: [{ name: 'old mails', everyMs: pruneEveryMs, run: () => pruneMails({ db, clock, transport }) }],
  })
  return {
    transport,
    instance,
    send: async (mail) => {
      await saveMail(db, mail)
      mailer.wake()
    },
    wake: mailer.wake,
    removeAbout: async (organizationId) => {
      await transport.forget(await deleteMailsAbout(db, organizationId))
      return 0
    },
    start: () => {
      mailer.start()
      timers.start()
    },
    stop: async () => {
      timers.stop()
      await mailer.stop()
    },
  }
}
