/**
 * Erases a person's data. Deleting the person's row deletes dependent rows by cascade, so that no table is missed. While
 * the session that requested the erasure lives, a row without personal data replaces it. That session then receives 410.
 */
import type { Tx } from '../../database/database.ts'
import { deleteMailsTo } from '../../mail/index.ts'
import { deleteVerificationsOf, replaceErasedUser } from '../accounts/index.ts'
import { type Actor, forgetPerson, recordAudit } from '../audit/index.ts'
import { orderStops } from '../docks/index.ts'
import { recordErasure } from '../lineage/index.ts'
import { deleteInvitationsTo, markOrganizationDeleted } from '../organizations/index.ts'
import type { ClosureContext } from './closure-context.ts'
import type { ClosingPerson, OwnOrganization } from './closure-store.ts'

/** Id of the session that requested the erasure, which receives 410 until it ends. Null if no session did. */
export type LastSession = string | null

/** What `afterErasure` needs to erase data outside the database. */
export type ErasedPerson = { id: string; email: string; mailIds: readonly string[] }

/** Erases a locked person in the caller's transaction. Call `afterErasure` with the result after the commit. */
export async function erasePerson(
  context: Pick<ClosureContext, 'clock' | 'sealer'>,
  tx: Tx,
  by: Actor,
  person: ClosingPerson,
  organizations: readonly OwnOrganization[],
  last: LastSession,
): Promise<ErasedPerson> {
  const now = context.clock.now()
  const target = { type: 'person', id: person.id }
  await recordAudit(tx, by, { action: 'account.erased', now, organizationId: 'own', target })
  const ending = organizations.filter(({ others }) => others === 0).map(({ id }) => id)
  for (const id of ending) await markOrganizationDeleted(tx, by, id, now)
  // Closing the account has ordered these stops already.
  if (!person.closedAt) await orderStops(tx, person.id, now)
  const mailIds = await deleteMailsTo(tx, person)
  await deleteVerificationsOf(tx, person)
  await deleteInvitationsTo(tx, person.email)
  await replaceErasedUser(tx, person.id, last, now)
  await forgetPerson(tx, person, ending)
  await recordErasure(tx, { kind: 'person', id: person.id }, now)
  await context.sealer.destroyKey({ kind: 'person', id: person.id }, tx)
  return { id: person.id, email: person.email, mailIds }
}
