/** Mails are kept for a while to see what was sent; then their rows go, and what their transport kept of them. */
import type { Clock } from '@dock/foundation'
import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { MailTransport } from './mail-transport.ts'

const keepMs = 30 * 24 * 3_600_000
const batch = 500

/** Lets go of mails that were sent, or given up, long ago. */
export async function pruneMails(options: { db: Db; clock: Clock; transport: MailTransport }): Promise<void> {
  const before = new Date(options.clock.now().getTime() - keepMs)
  const { rows } = await sql<{ id: string }>`delete from outbox_mails where id in (
    select id from outbox_mails where created_at < ${before} limit ${batch}) returning id`.execute(options.db)
  await options.transport.forget(rows.map(({ id }) => id))
}
