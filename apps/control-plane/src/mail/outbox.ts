/** The outbox: mails are saved in the transaction of their cause, and sent afterwards with exponential backoff. */
import type { Clock, Logger } from '@dock/foundation'
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { MailTransport } from './mail-transport.ts'

export type Mail = {
  recipient: string
  subject: string
  body: string
  /** Path of a page of the app. The mail ends with a link to it. */
  linkPath?: string
}

/** Saves a mail, preferably in the transaction of its cause. Call {@link Mailer.wake} after the commit. */
export async function saveMail(db: Db, { linkPath, ...mail }: Mail): Promise<void> {
  await db
    .insertInto('outbox_mails')
    .values({ ...mail, link_path: linkPath ?? null })
    .execute()
}

/**
 * Records a mail that the caller is about to send itself, so that pruning the row also deletes what the transport
 * stored. The mailer does not send it.
 */
export async function recordSentMail(
  db: Db,
  mail: { id: string; recipient: string; subject: string },
  now: Date,
): Promise<void> {
  await db
    .insertInto('outbox_mails')
    .values({ ...mail, body: '', attempts: 1, created_at: now, sent_at: now })
    .execute()
}

/** SQL that saves a mail for each row of `mails`, a query of `recipient`, `subject`, `body` and `link_path`. */
export function insertMails(mails: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`insert into outbox_mails (recipient, subject, body, link_path)
    select m.recipient, m.subject, m.body, m.link_path from (${mails}) m`
}

/** Deletes all mails to the address, sent or not. Returns their ids. */
export async function deleteMailsTo(tx: Db, email: string): Promise<string[]> {
  const rows = await tx
    .deleteFrom('outbox_mails')
    .where((where) => where(where.fn<string>('lower', ['recipient']), '=', email.toLowerCase()))
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

export type Mailer = {
  /** Starts to send due mails without waiting for them. */
  wake(): void
  start(): void
  /** Resolves when no mail is being sent. */
  stop(): Promise<void>
}

const sweepMs = 5_000
const batch = 20
const firstRetryMs = 30_000
const longestRetryMs = 3_600_000
const attemptsMax = 25
/**
 * How long no other process takes a mail that is being sent. If the sender dies, the mail is retried after this time.
 */
const leaseMs = 120_000

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

/** Sends due mails of the outbox. A mail is sent twice if the process dies between sending and recording it. */
export function createMailer(options: {
  db: Db
  clock: Clock
  logger: Logger
  transport: MailTransport
  /** Base URL of the links in mails. */
  appUrl: string
}): Mailer {
  const { db, clock, logger, transport } = options
  let cancel: (() => void) | undefined
  let started = false
  let working: Promise<void> = Promise.resolve()
  let again = false
  let busy = false

  const claimDueOperations = () => {
    const now = clock.now()
    return db
      .updateTable('outbox_mails')
      .set({ next_attempt_at: new Date(now.getTime() + leaseMs) })
      .where('id', 'in', (select) =>
        select
          .selectFrom('outbox_mails')
          .select('id')
          .where('sent_at', 'is', null)
          // The column has microseconds, the clock milliseconds: a mail saved in this millisecond must be due.
          .where(sql<Date>`date_trunc('milliseconds', next_attempt_at)`, '<=', now)
          .where('attempts', '<', attemptsMax)
          .orderBy('next_attempt_at')
          .limit(batch)
          .forUpdate()
          .skipLocked(),
      )
      .returningAll()
      .execute()
  }

  const send = async (mail: Awaited<ReturnType<typeof claimDueOperations>>[number]): Promise<void> => {
    const attempts = mail.attempts + 1
    const row = db.updateTable('outbox_mails').where('id', '=', mail.id)
    try {
      const { id, recipient, subject } = mail
      const body =
        mail.link_path === null ? mail.body : `${mail.body}\n\n${options.appUrl}${mail.link_path}\n`
      await transport.send({ id, recipient, subject, body })
      // Bodies contain links that sign in, so they are deleted once sent.
      await row.set({ sent_at: clock.now(), error: null, attempts, body: '' }).execute()
    } catch (error) {
      const pauseMs = Math.min(firstRetryMs * 2 ** mail.attempts, longestRetryMs)
      const reason = error instanceof Error ? error.message : String(error)
      await row
        .set({ attempts, next_attempt_at: new Date(clock.now().getTime() + pauseMs), error: reason })
        .execute()
      // The mail host's error may name the recipient, so it is stored in the row, which is erased with the person.
      logger.warn({ code: codeOf(error), mailId: mail.id }, 'could not send a mail')
    }
  }

  const sendDue = async (): Promise<void> => {
    const due = await claimDueOperations()
    for (const mail of due) await send(mail)
    if (due.length === batch) again = true
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
      .catch((error: unknown) => logger.error({ err: error }, 'could not send mails from the outbox'))
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
