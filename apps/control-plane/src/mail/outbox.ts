/** Mails as rows: written with what they tell about, sent afterwards with growing pauses until it works. */
import type { Clock, Logger } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { MailTransport } from './mail-transport.ts'

export type Mail = {
  recipient: string
  subject: string
  body: string
  /** A page of the app that the mail ends with, as a path. */
  linkPath?: string
}

/** Saves a mail, best in the transaction of its cause. Call {@link Mailer.wake} afterwards. */
export async function saveMail(db: Db, { linkPath, ...mail }: Mail): Promise<void> {
  await db
    .insertInto('outbox_mails')
    .values({ ...mail, link_path: linkPath ?? null })
    .execute()
}

/**
 * Notes a mail that its caller sends at once, before it does: what its transport keeps of it goes when the row is pruned.
 * The mailer never sends it.
 */
export async function noteSentMail(
  db: Db,
  mail: { id: string; recipient: string; subject: string },
  now: Date,
): Promise<void> {
  await db
    .insertInto('outbox_mails')
    .values({ ...mail, body: '', attempts: 1, created_at: now, sent_at: now })
    .execute()
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
/** How long a mail is its sender's alone; another process takes it up when this one died on the way. */
const leaseMs = 120_000

const codeOf = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined

/** Sends due mails of the outbox. A mail may be sent twice when the process dies between sending and recording. */
export function createMailer(options: {
  db: Db
  clock: Clock
  logger: Logger
  transport: MailTransport
  /** Where the pages are that mails lead to. */
  appUrl: string
}): Mailer {
  const { db, clock, logger, transport } = options
  let cancel: (() => void) | undefined
  let started = false
  let working: Promise<void> = Promise.resolve()
  let again = false
  let busy = false

  const takeDue = () => {
    const now = clock.now()
    return db
      .updateTable('outbox_mails')
      .set({ next_attempt_at: new Date(now.getTime() + leaseMs) })
      .where('id', 'in', (select) =>
        select
          .selectFrom('outbox_mails')
          .select('id')
          .where('sent_at', 'is', null)
          // The column counts microseconds, the clock milliseconds: a mail saved in this very millisecond is due.
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

  const send = async (mail: Awaited<ReturnType<typeof takeDue>>[number]): Promise<void> => {
    const attempts = mail.attempts + 1
    const row = db.updateTable('outbox_mails').where('id', '=', mail.id)
    try {
      const { id, recipient, subject } = mail
      const body =
        mail.link_path === null ? mail.body : `${mail.body}\n\n${options.appUrl}${mail.link_path}\n`
      await transport.send({ id, recipient, subject, body })
      // Bodies hold links that sign in; they are kept no longer than needed.
      await row.set({ sent_at: clock.now(), error: null, attempts, body: '' }).execute()
    } catch (error) {
      const pauseMs = Math.min(firstRetryMs * 2 ** mail.attempts, longestRetryMs)
      const reason = error instanceof Error ? error.message : String(error)
      await row
        .set({ attempts, next_attempt_at: new Date(clock.now().getTime() + pauseMs), error: reason })
        .execute()
      // A mail host's answer names the recipient: it stays in the row, which goes with the person.
      logger.warn({ code: codeOf(error), mailId: mail.id }, 'mail not sent')
    }
  }

  const sendDue = async (): Promise<void> => {
    const due = await takeDue()
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
