/** The only SQL for invitations. A row is an invitation that is open, expired or not. */
import type { Role } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import type { Selectable } from 'kysely'
import type { Database, Db, Tx } from '../../database/database.ts'
import { hashInvitationToken } from './invitation-token.ts'

export type InvitationRow = Selectable<Database['invitations']>

/** How an invited person names an invitation: by its id on their own list, or by the token of a mailed link. */
export type InvitationReference = { id: string } | { token: string }

/** An invitation with the name of the organization that it leads into. */
export type AddressedInvitation = InvitationRow & { organizationName: string }

const addressedTo = (db: Db, email: string, now: Date) =>
  db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .where('invitations.email', '=', email.toLowerCase())
    .where('invitations.expires_at', '>', now)
    .where('organizations.deleted_at', 'is', null)
    .selectAll('invitations')
    .select('organizations.name as organizationName')

/** What is open for an address, newest first. */
export function listAddressedInvitations(db: Db, email: string, now: Date): Promise<AddressedInvitation[]> {
  return addressedTo(db, email, now)
    .orderBy('invitations.created_at', 'desc')
    .orderBy('invitations.id', 'desc')
    .execute()
}

/** An invitation that can be accepted at this address. */
export function findAddressedInvitation(
  db: Db,
  email: string,
  reference: InvitationReference,
  now: Date,
): Promise<AddressedInvitation | undefined> {
  const query = addressedTo(db, email, now)
  return 'id' in reference
    ? query.where('invitations.id', '=', reference.id).executeTakeFirst()
    : query.where('invitations.token_hash', '=', hashInvitationToken(reference.token)).executeTakeFirst()
}

/** Everything open in an organization, expired ones included, newest first. */
export function listInvitationRows(db: Db, organizationId: string): Promise<InvitationRow[]> {
  return db
    .selectFrom('invitations')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute()
}

export function findInvitationRow(
  tx: Tx,
  organizationId: string,
  by: { id: string } | { email: string },
): Promise<InvitationRow | undefined> {
  const query = tx.selectFrom('invitations').selectAll().where('organization_id', '=', organizationId)
  return 'id' in by
    ? query.where('id', '=', by.id).executeTakeFirst()
    : query.where('email', '=', by.email).executeTakeFirst()
}

export async function insertInvitation(
  tx: Tx,
  invitation: {
    organizationId: string
    email: string
    role: Role
    token: string
    expiresAt: Date
    now: Date
  },
): Promise<void> {
  await tx
    .insertInto('invitations')
    .values({
      id: newUuid(),
      organization_id: invitation.organizationId,
      email: invitation.email,
      role: invitation.role,
      token_hash: hashInvitationToken(invitation.token),
      expires_at: invitation.expiresAt,
      created_at: invitation.now,
    })
    .execute()
}

/** Gives an invitation another link, role and end: the link before it leads nowhere from then on. */
export function renewInvitation(
  tx: Tx,
  organizationId: string,
  id: string,
  values: { role: Role; token: string; expiresAt: Date },
): Promise<InvitationRow> {
  return tx
    .updateTable('invitations')
    .set({
      role: values.role,
      token_hash: hashInvitationToken(values.token),
      expires_at: values.expiresAt,
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Closes an invitation. Of many who try at once, one is answered true. */
export async function deleteInvitation(db: Db, organizationId: string, id: string): Promise<boolean> {
  const result = await db
    .deleteFrom('invitations')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()
  return result.numDeletedRows > 0n
}

/** Whether somebody was invited at this address and can still accept; with a token, by the mail that carried it. */
export async function isInvitedAddress(
  db: Db,
  email: string,
  token: string | null,
  now: Date,
): Promise<boolean> {
  const found =
    token === null
      ? await addressedTo(db, email, now).limit(1).executeTakeFirst()
      : await findAddressedInvitation(db, email, { token }, now)
  return found !== undefined
}

/** Closes everything that is open for an address whose owner is erased. */
export async function forgetAddress(tx: Tx, email: string): Promise<void> {
  await tx.deleteFrom('invitations').where('email', '=', email.toLowerCase()).execute()
}
