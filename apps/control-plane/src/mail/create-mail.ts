/** Constructs what sends mails: the transport, the mailer of the outbox, and the removal of old mails. */
import type { Clock, Logger } from '@dock/foundation'
import type { Db } from '../database/database.ts'
import { createTimers } from '../engine/index.ts'
import { createFileTransport, createSmtpTransport, type MailTransport } from './mail-transport.ts'
import { createMailer, type Mail, saveMail } from './outbox.ts'
import { pruneMails } from './prune-mails.ts'

export type MailService = {
  transport: MailTransport
  /** Saves a mail to the outbox and starts to send it. */
  send(mail: Mail): Promise<void>
  /** Call after a mail was saved to the outbox and committed. */
  wake(): void
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
}): MailService {
  const { db, clock, logger, smtpUrl, folder, mailFrom, appUrl } = options
  const transport = smtpUrl ? createSmtpTransport(smtpUrl, mailFrom) : createFileTransport(folder, mailFrom)
  const mailer = createMailer({ db, clock, logger, transport, appUrl })
  const timers = createTimers({
    clock,
    logger,
    tasks: [{ name: 'old mails', everyMs: pruneEveryMs, run: () => pruneMails({ db, clock, transport }) }],
  })
  return {
    transport,
    send: async (mail) => {
      await saveMail(db, mail)
      mailer.wake()
    },
    wake: mailer.wake,
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
