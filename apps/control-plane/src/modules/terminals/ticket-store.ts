/** All SQL for terminal tickets. */
import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** The process that a terminal is attached to, and the offset in its output from which it is shown. */
export type Attachment = { processId: string; offset: number }
export type Ticket = { dockId: string; organizationId: string; userId: string; credentialId: string }
export type RedeemedTicket = Ticket & { attachment: Attachment | null }

const hashOf = (raw: string): Buffer => createHash('sha256').update(raw).digest()

/** Stores a ticket and returns its raw value. Only its hash is stored. Also deletes expired tickets. */
export async function insertTicket(
  db: Db,
  { dockId, organizationId, userId, credentialId, attachment }: RedeemedTicket,
  now: Date,
  expiresAt: Date,
): Promise<string> {
  const raw = randomBytes(32).toString('base64url')
  await sql`with expired as (delete from terminal_tickets where expires_at <= ${now})
    insert into terminal_tickets (hash, dock_id, organization_id, user_id, credential_id, expires_at, process_id,
      process_offset)
    values (${hashOf(raw)}, ${dockId}, ${organizationId}, ${userId}, ${credentialId}, ${expiresAt},
      ${attachment?.processId ?? null}, ${attachment?.offset ?? 0})`.execute(db)
  return raw
}

/** Deletes and returns the ticket, so that it works only once. Returns null if it is not valid for this Dock. */
export async function redeemTicket(
  db: Db,
  raw: string,
  dockId: string,
  now: Date,
): Promise<RedeemedTicket | null> {
  return (
    (
      await sql<RedeemedTicket>`delete from terminal_tickets
      where hash = ${hashOf(raw)} and dock_id = ${dockId} and expires_at > ${now}
      returning dock_id as "dockId", organization_id as "organizationId", user_id as "userId",
        credential_id as "credentialId", case when process_id is not null
          then jsonb_build_object('processId', process_id, 'offset', process_offset) end as attachment`.execute(
        db,
      )
    ).rows[0] ?? null
  )
}
