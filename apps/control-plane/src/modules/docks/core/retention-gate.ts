/**
 * Zero data retention: a stop that is not forced deletes all data of the Dock. Only the Dock's creator and admins may
 * cause such a stop, at once or by a timer.
 */
import { roleReaches, ServiceError } from '@dock/contract'
import type { Db } from '../../../database/database.ts'
import { retentionEnabled, type Visitor } from '../../accounts/index.ts'
import type { VisibleDock } from './dock.ts'

/** Returns true if the caller created the Dock or is an admin of its organization. */
export function mayDelete(caller: Pick<Visitor, 'userId'>, dock: VisibleDock): boolean {
  return dock.createdBy === caller.userId || roleReaches(dock.role, 'admin')
}

/**
 * Throws `forbidden` if the caller sets a timer whose stop would delete data that the caller may not delete. Null clears
 * the timer, so everybody may send it.
 */
export async function requireMaySetTtl(
  { db }: { db: Db },
  caller: Pick<Visitor, 'userId'>,
  dock: VisibleDock,
  ttlSeconds: number | null | undefined,
): Promise<void> {
  if (typeof ttlSeconds !== 'number' || mayDelete(caller, dock)) return
  if (await retentionEnabled(db, dock.organizationId))
    throw new ServiceError('forbidden', {
      message:
        "While retention is on, a stop by the timer deletes the Dock's data. Only its creator or an admin of the organization may set ttlSeconds.",
    })
}
