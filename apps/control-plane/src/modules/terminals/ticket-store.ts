/** All SQL for terminal tickets. */
import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

export type Ticket = { dockId: string; organizationId: string; userId: string; credentialId: string }

const hashOf = (raw: string): Buffer => createHash('sha256').update(raw).digest()

/** Stores a ticket and returns its raw value. Only its hash is stored. Also deletes expired tickets. */
export async function insertTicket(db: Db, ticket: Ticket, now: Date, expiresAt: Date): Promise<string> {
  const raw = randomBytes(32).toString('base64url')
  await sql`with expired as (delete from terminal_tickets where expires_at <= ${now})
    insert into terminal_tickets (hash, dock_id, organization_id, user_id, credential_id, expires_at)
    values (${hashOf(raw)}, ${ticket.dockId}, ${ticket.organizationId}, ${ticket.userId}, ${ticket.credentialId},
      ${expiresAt})`.execute(db)
  return raw
}

/** Deletes and returns the ticket, so that it works only once. Returns null if it is not valid for this Dock. */
export async function redeemTicket(db: Db, raw: string, dockId: string, now: Date): Promise<Ticket | null> {
  return (
    (
      await sql<Ticket>`delete from terminal_tickets
      where hash = ${hashOf(raw)} and dock_id = ${dockId} and expires_at > ${now}
      returning dock_id as "dockId", organization_id as "organizationId", user_id as "userId",
        credential_id as "credentialId"`.execute(db)
    ).rows[0] ?? null
  )
}
