/** Mails as rows: written with what they tell about, sent afterwards with growing pauses until it works. */
import type { Clock, Logger } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { MailTransport } from './mail-transport.ts'

export type Mail = { recipient: string; subject: string; body: string }

/** Saves a mail, best in the transaction of its cause. Call {@link Mailer.wake} afterwards. */
export const saveMail = async (db: Db, mail: Mail): Promise<void> => {
  await db.insertInto('outbox_mails').values(mail).execute()
}

export type Mailer = {
  /** Sends what is due soon, without waiting for it. */
  wake(): void
  start(): void
  /** Resolves when no mail is under way. */
  stop(): Promise<void>
}

const sweepMs = 5_000
const batch = 20
const firstRetryMs = 30_000
const longestRetryMs = 3_600_000
const attemptsMax = 25

/** Sends due mails of the outbox. A mail may be sent twice when the process dies between sending and recording. */
export const createMailer = (options: {
  db: Db
  clock: Clock
  logger: Logger
  transport: MailTransport
}): Mailer => {
  const { db, clock, logger, transport } = options
  let cancel: (() => void) | undefined
  let started = false
  let working: Promise<void> = Promise.resolve()
  let again = false
  let busy = false

  const sendDue = async (): Promise<void> => {
    const due = await db
      .selectFrom('outbox_mails')
      .selectAll()
      .where('sent_at', 'is', null)
      // The column counts microseconds, the clock milliseconds: a mail saved in this very millisecond is due.
      .where(sql<Date>`date_trunc('milliseconds', next_attempt_at)`, '<=', clock.now())
      .where('attempts', '<', attemptsMax)
      .orderBy('created_at')
      .limit(batch)
      .execute()
    for (const mail of due) {
      try {
        await transport.send({ ...mail, id: mail.id })
        await db
          .updateTable('outbox_mails')
          .set({ sent_at: clock.now(), error: null, attempts: mail.attempts + 1 })
          .where('id', '=', mail.id)
          .execute()
      } catch (error) {
        const pauseMs = Math.min(firstRetryMs * 2 ** mail.attempts, longestRetryMs)
        await db
          .updateTable('outbox_mails')
          .set({
            attempts: mail.attempts + 1,
            next_attempt_at: new Date(clock.now().getTime() + pauseMs),
            error: error instanceof Error ? error.message : String(error),
          })
          .where('id', '=', mail.id)
          .execute()
        logger.warn({ err: error, mailId: mail.id }, 'mail not sent')
      }
    }
  }

  const wake = (): void => {
    if (!started) return
    if (busy) {
      again = true
      return
    }
    busy = true
    cancel?.()
    working = sendDue()
      .catch((error: unknown) => logger.error({ err: error }, 'outbox of mails not read'))
      .finally(() => {
        busy = false
        if (!started) return
        cancel = clock.after(again ? 0 : sweepMs, wake)
        again = false
      })
  }

  return {
    wake,
    start: () => {
      started = true
      wake()
    },
    stop: async () => {
      started = false
      cancel?.()
      await working
    },
  }
}
