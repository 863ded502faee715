/** All SQL for invitations. A row exists until the invitation is accepted, declined or revoked; it may have expired. */
import { limits, type Role, ServiceError } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { columnsOf } from '../../database/columns.ts'
import type { Db, Row, Tx } from '../../database/database.ts'
import { hashInvitationToken } from './invitation-token.ts'

export type InvitationRow = Row<'invitations'>
const columns = columnsOf('invitations')

/** Identifies an invitation by its id, as in the invited user's list, or by the token of the mailed link. */
export type InvitationReference = { id: string } | { token: string }

/** An invitation with the name of its organization, as the invited user sees it. */
export type AddressedInvitation = InvitationRow & { organizationName: string }

const selectAcceptable = (db: Db, email: string, now: Date) =>
  db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .where('invitations.email', '=', email.toLowerCase())
    .where('invitations.expires_at', '>', now)
    .where('organizations.deleted_at', 'is', null)
    .select(columns)
    .select('organizations.name as organizationName')

/** Returns the invitations that an address can accept, newest first. */
export function listAddressedInvitations(db: Db, email: string, now: Date): Promise<AddressedInvitation[]> {
  return selectAcceptable(db, email, now)
    .orderBy('invitations.created_at', 'desc')
    .orderBy('invitations.id', 'desc')
    .execute()
}

/** Returns the invitation if the address can accept it. */
export function findAddressedInvitation(
  db: Db,
  email: string,
  reference: InvitationReference,
  now: Date,
): Promise<AddressedInvitation | undefined> {
  const query = selectAcceptable(db, email, now)
  return 'id' in reference
    ? query.where('invitations.id', '=', reference.id).executeTakeFirst()
    : query.where('invitations.token_hash', '=', hashInvitationToken(reference.token)).executeTakeFirst()
}

/** Returns all invitations of an organization including expired ones, newest first. */
export function listInvitationRows(db: Db, organizationId: string): Promise<InvitationRow[]> {
  return db
    .selectFrom('invitations')
    .select(columns)
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
  const query = tx.selectFrom('invitations').select(columns).where('organization_id', '=', organizationId)
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
    invitedBy: string
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
      invited_by: invitation.invitedBy,
      expires_at: invitation.expiresAt,
      created_at: invitation.now,
    })
    .execute()
}

/**
 * Deletes the oldest expired invitations if the organization has as many as it may have. Throws `conflict` if none has
 * expired. The caller holds the lock on the organization.
 */
export async function requireRoomForInvitation(tx: Tx, organizationId: string, now: Date): Promise<void> {
  const { invitationsPerOrganizationMax: most } = limits
  const { n } = await tx
    .selectFrom('invitations')
    .select(({ fn }) => fn.countAll<string>().as('n'))
    .where('organization_id', '=', organizationId)
    .executeTakeFirstOrThrow()
  const excess = Number(n) - most + 1
  if (excess <= 0) return
  const { numDeletedRows } = await tx
    .deleteFrom('invitations')
    .where('id', 'in', (from) =>
      from
        .selectFrom('invitations')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('expires_at', '<=', now)
        .orderBy('expires_at')
        .limit(excess),
    )
    .executeTakeFirst()
  if (Number(numDeletedRows) < excess)
    throw new ServiceError('conflict', {
      message: `The organization may have ${most} open invitations. Revoke one, or wait until one is accepted.`,
    })
}

/** Replaces the token, role and expiry of an invitation, and who invited. The previous link stops working. */
export function renewInvitation(
  tx: Tx,
  organizationId: string,
  id: string,
  values: { role: Role; token: string; expiresAt: Date; invitedBy?: string },
): Promise<InvitationRow> {
  return tx
    .updateTable('invitations')
    .set({
      role: values.role,
      token_hash: hashInvitationToken(values.token),
      expires_at: values.expiresAt,
      ...(values.invitedBy === undefined ? {} : { invited_by: values.invitedBy }),
    })
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Returns what the link of an invitation tells everybody who holds it. */
export function findGreeting(
  db: Db,
  token: string,
  now: Date,
): Promise<{ organizationName: string; invitedBy: string | null; role: Role; expires_at: Date } | undefined> {
  return db
    .selectFrom('invitations')
    .innerJoin('organizations', 'organizations.id', 'invitations.organization_id')
    .leftJoin('users', 'users.id', 'invitations.invited_by')
    .where('invitations.token_hash', '=', hashInvitationToken(token))
    .where('invitations.expires_at', '>', now)
    .where('organizations.deleted_at', 'is', null)
    .select(['organizations.name as organizationName', 'users.name as invitedBy'])
    .select(['invitations.role', 'invitations.expires_at'])
    .executeTakeFirst()
}

/** Records that somebody made an account with the link of an invitation. */
export async function recordSignUp(db: Db, email: string, token: string, now: Date): Promise<void> {
  await db
    .updateTable('invitations')
    .set({ signed_up_at: now })
    .where('email', '=', email.toLowerCase())
    .where('token_hash', '=', hashInvitationToken(token))
    .execute()
}

/** Deletes an invitation and returns it to exactly one of several concurrent calls. */
export function deleteInvitation(
  tx: Tx,
  organizationId: string,
  id: string,
): Promise<InvitationRow | undefined> {
  return tx
    .deleteFrom('invitations')
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirst()
}

/**
 * Returns true if the address has an invitation that it can accept. If `token` is not null, it must be the token of
 * that invitation.
 */
export async function isInvitedAddress(
  db: Db,
  email: string,
  token: string | null,
  now: Date,
): Promise<boolean> {
  const found =
    token === null
      ? await selectAcceptable(db, email, now).limit(1).executeTakeFirst()
      : await findAddressedInvitation(db, email, { token }, now)
  return found !== undefined
}

/** Deletes all invitations to an address. Used when its user is erased. */
export async function deleteInvitationsTo(tx: Tx, email: string): Promise<void> {
  await tx.deleteFrom('invitations').where('email', '=', email.toLowerCase()).execute()
}
