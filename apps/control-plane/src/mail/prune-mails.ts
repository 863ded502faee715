/** Deletes old mails. Rows are kept for 30 days to show what was sent. */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { MailTransport } from './mail-transport.ts'

const keepMs = 30 * 24 * 3_600_000
const batch = 500

/** Deletes rows older than 30 days, sent or not, and what the transport stored of them, in batches. */
export async function pruneMails(options: { db: Db; clock: Clock; transport: MailTransport }): Promise<void> {
  const before = new Date(options.clock.now().getTime() - keepMs)
  for (;;) {
    const { rows } = await sql<{ id: string }>`delete from outbox_mails where id in (
      select id from outbox_mails where created_at < ${before} limit ${batch}) returning id`.execute(
      options.db,
    )
    await options.transport.forget(rows.map(({ id }) => id))
    if (rows.length < batch) return
  }
}
