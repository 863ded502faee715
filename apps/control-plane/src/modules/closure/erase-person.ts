/**
 * Erases a person's data. Deleting the person's row deletes dependent rows by cascade, so that no table is missed. While
 * the session that requested the erasure lives, a row without personal data replaces it. That session then receives 410.
 */
import { sql } from 'kysely'
import type { Tx } from '../../database/database.ts'
import { orderStops } from '../docks/index.ts'
import { recordErasure } from '../lineage/index.ts'
import { deleteInvitationsTo, markOrganizationDeleted } from '../organizations/index.ts'
import type { ClosureContext } from './closure-context.ts'
import type { ClosingPerson, OwnOrganization } from './closure-store.ts'

/** Id of the session that requested the erasure, which receives 410 until it ends. Null if no session did. */
export type LastSession = string | null

/** Deletes all mails to the address, sent or not. Returns their ids. */
const deleteMails = async (tx: Tx, email: string): Promise<string[]> => {
  const rows = await tx
    .deleteFrom('outbox_mails')
    .where((where) => where(where.fn<string>('lower', ['recipient']), '=', email.toLowerCase()))
    .returning('id')
    .execute()
  return rows.map((row) => row.id)
}

/** Deletes password reset links and unfinished sign-ins, which contain the person's id or address. */
const deleteVerifications = async (tx: Tx, person: ClosingPerson): Promise<void> => {
  await sql`delete from verifications
    where position(${person.id} in value) > 0 or position(lower(${person.email}) in lower(value)) > 0
      or position(lower(${person.email}) in lower(identifier)) > 0`.execute(tx)
}

const replaceRow = async (tx: Tx, person: ClosingPerson, last: LastSession, now: Date): Promise<void> => {
  const session =
    last === null
      ? undefined
      : await tx
          .selectFrom('sessions')
          .select(['id', 'token', 'expires_at', 'created_at'])
          .where('id', '=', last)
          .where('user_id', '=', person.id)
          .executeTakeFirst()
  await tx.deleteFrom('users').where('id', '=', person.id).execute()
  if (!session) return
  await tx
    .insertInto('users')
    .values({
      id: person.id,
      name: '',
      email: `erased-${person.id}@erased.invalid`,
      closed_at: now,
      erased_at: now,
      created_at: now,
      updated_at: now,
    })
    .execute()
  await tx
    .insertInto('sessions')
    .values({ ...session, user_id: person.id })
    .execute()
}

/** What `afterErasure` needs to erase data outside the database. */
export type ErasedPerson = { id: string; email: string; mailIds: readonly string[] }

/** Erases a locked person in the caller's transaction. Call `afterErasure` with the result after the commit. */
export async function erasePerson(
  context: Pick<ClosureContext, 'clock' | 'sealer'>,
  tx: Tx,
  person: ClosingPerson,
  organizations: readonly OwnOrganization[],
  last: LastSession,
): Promise<ErasedPerson> {
  const now = context.clock.now()
  for (const { id, others } of organizations) if (others === 0) await markOrganizationDeleted(tx, id, now)
  // Closing the account has ordered these stops already.
  if (!person.closedAt) await orderStops(tx, person.id, now)
  const mailIds = await deleteMails(tx, person.email)
  await deleteVerifications(tx, person)
  await deleteInvitationsTo(tx, person.email)
  await replaceRow(tx, person, last, now)
  await recordErasure(tx, { kind: 'person', id: person.id }, now)
  await context.sealer.destroyKey({ kind: 'person', id: person.id }, tx)
  return { id: person.id, email: person.email, mailIds }
}
