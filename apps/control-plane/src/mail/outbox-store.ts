/** Rows of the outbox. Mails are saved in the transaction of their cause. `mailer.ts` sends them afterwards. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { AlertMail, Mail } from './mail.ts'
import type { MailOutcome } from './outcome.ts'

/** How long a mail that several alerts may share waits for the next one, and how long in all, in milliseconds. */
const gatherMs = 10_000
const gatherMsMax = 120_000

/** Saves a mail, preferably in the transaction of its cause. Call {@link DeliveryEngine.wake} after the commit. */
export async function saveMail(db: Db, { title, link, organization, ...mail }: Mail): Promise<void> {
  await db
    .insertInto('outbox_mails')
    .values({
      ...mail,
      kind: 'account',
      subject: title,
      link: link.to,
      link_label: link.label,
      organization_id: organization?.id ?? null,
      organization_name: organization?.name ?? null,
    })
    .execute()
}

/**
 * SQL that saves an alert's mail for each row of `recipients`, a query of `user_id` and `email`. Alerts with the same
 * cause are added to a mail that waits.
 */
export function insertAlertMails(mail: AlertMail, recipients: RawBuilder<unknown>): RawBuilder<unknown> {
  const { shared, link } = mail
  const gathered = shared && {
    title: shared.title,
    body: shared.body,
    link: shared.link.to,
    linkLabel: shared.link.label,
    items: [shared.item],
  }
  const dueAt = shared ? new Date(mail.at.getTime() + gatherMs) : mail.at
  return sql`
    insert into outbox_mails (kind, recipient, user_id, alert_type, organization_id, organization_name, subject, body,
      link, link_label, gather_key, gathered, created_at, next_attempt_at)
    select 'alert', r.email, r.user_id, ${mail.type}::text, o.id, o.name, ${mail.title}::text, ${mail.body}::text,
      ${link.to}::text, ${link.label}::text, ${shared ? `${mail.type} ${shared.cause}` : null}::text,
      ${gathered ? JSON.stringify(gathered) : null}::text::jsonb, ${mail.at}::timestamptz, ${dueAt}::timestamptz
    from (${recipients}) r join organizations o on o.id = ${mail.organizationId}::uuid order by r.user_id
    on conflict (user_id, organization_id, gather_key) where gather_key is not null do update set
      gathered = jsonb_set(outbox_mails.gathered, '{items}',
        (outbox_mails.gathered -> 'items') || (excluded.gathered -> 'items')),
      next_attempt_at = least(excluded.next_attempt_at,
        outbox_mails.created_at + ${gatherMsMax}::int * interval '1 millisecond')`
}

/**
 * Records a message to the operator that the caller is about to send itself, so that pruning the row also deletes what
 * the transport stored. The mailer does not send it.
 */
export async function recordContactMail(
  db: Db,
  mail: { id: string; recipient: string; subject: string },
  now: Date,
): Promise<void> {
  await db
    .insertInto('outbox_mails')
    .values({
      ...mail,
      kind: 'contact',
      status: 'sent',
      body: '',
      attempts: 1,
      created_at: now,
      sent_at: now,
    })
    .execute()
}

/**
 * Records how an attempt ended. What a mail says is deleted once it is not sent again, because its link may sign in. An
 * acceptance always counts. All else counts only if nobody claimed the mail since.
 */
export async function recordOutcome(
  db: Db,
  { id, attempts }: { id: string; attempts: number },
  outcome: MailOutcome,
  now: Date,
): Promise<void> {
  const emptied = { body: '', link: null, gathered: null }
  const row = db.updateTable('outbox_mails').where('id', '=', id)
  if (outcome.kind === 'sent') {
    await row.set({ ...emptied, status: 'sent', sent_at: now }).execute()
    return
  }
  const { error, replyCode } = outcome
  const reply = { error, reply_code: replyCode }
  await row
    .where('attempts', '=', attempts)
    .where('status', '=', 'pending')
    .set(
      outcome.kind === 'retry'
        ? { ...reply, next_attempt_at: outcome.at }
        : { ...reply, ...emptied, status: outcome.kind },
    )
    .execute()
}

/** Deletes the waiting mails to a person about alerts of a type, or about those of an organization. */
export async function cancelAlertMails(
  db: Db,
  userId: string,
  about: { type: AlertMail['type'] } | { organizationId: string },
): Promise<void> {
  const mails = db
    .deleteFrom('outbox_mails')
    .where('user_id', '=', userId)
    .where('kind', '=', 'alert')
    .where('status', '=', 'pending')
  await ('type' in about
    ? mails.where('alert_type', '=', about.type)
    : mails.where('organization_id', '=', about.organizationId)
  ).execute()
}

/** Deletes all mails to a person, sent or not. Returns their ids. */
export async function deleteMailsTo(db: Db, person: { id: string; email: string }): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`delete from outbox_mails
    where lower(recipient) = ${person.email.toLowerCase()} or user_id = ${person.id} returning id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Deletes all mails about an organization, sent or not. Returns their ids. */
export async function deleteMailsAbout(db: Db, organizationId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`delete from outbox_mails
    where organization_id = ${organizationId} returning id`.execute(db)
  return rows.map(({ id }) => id)
}
