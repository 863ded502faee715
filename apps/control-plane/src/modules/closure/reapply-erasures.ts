/** Applies erasures again after a restore of the database, which has undone them. */
import { withTransaction } from '../../database/database.ts'
import type { Erased } from '../lineage/index.ts'
import { markOrganizationDeleted, promoteNextOwner } from '../organizations/index.ts'
import type { ClosureContext } from './closure-context.ts'
import { lockOwnOrganizations, lockPerson } from './closure-store.ts'
import { afterErasure } from './erase-account.ts'
import { erasePerson } from './erase-person.ts'

const eraseOrganization = async (
  { db, clock, wakeRemoval }: ClosureContext,
  id: string,
): Promise<boolean> => {
  const isErased = await withTransaction(db, async (tx) => {
    const standing = await tx
      .selectFrom('organizations')
      .select('id')
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .forUpdate()
      .executeTakeFirst()
    if (standing) await markOrganizationDeleted(tx, { kind: 'platform' }, id, clock.now())
    return standing !== undefined
  })
  if (isErased) wakeRemoval()
  return isErased
}

const erasePersonAgain = async (context: ClosureContext, id: string): Promise<boolean> => {
  const { db, clock } = context
  const erased = await withTransaction(db, async (tx) => {
    const there = await tx
      .selectFrom('users')
      .select('id')
      .where('id', '=', id)
      .where('erased_at', 'is', null)
      .executeTakeFirst()
    if (!there) return null
    const person = await lockPerson(tx, id)
    const organizations = await lockOwnOrganizations(tx, id)
    for (const { id: organizationId, others, soleOwner } of organizations)
      if (others > 0 && soleOwner) await promoteNextOwner(tx, organizationId, id, clock.now())
    return erasePerson(context, tx, { kind: 'platform' }, person, organizations, null)
  })
  if (erased) await afterErasure(context, erased)
  return erased !== null
}

/** Erases each person and organization that exists again. Idempotent. */
export async function reapplyErasures(context: ClosureContext, erased: readonly Erased[]): Promise<void> {
  for (const { kind, id } of erased) {
    const isErased = await (kind === 'organization'
      ? eraseOrganization(context, id)
      : erasePersonAgain(context, id))
    if (isErased) context.logger.warn({ kind, id }, 'erased again after a database restore')
  }
}
