import { ServiceError } from '@dock/contract'
import type { Clock } from '@dock/foundation'
import type { Db } from '../../database/database.ts'
import type { Caller } from '../accounts/index.ts'
import { markAllRead, markRead } from './inbox-store.ts'

export type InboxContext = { db: Db; clock: Clock }

/** Marks one of the caller's notifications as read. Idempotent. Throws `notification_not_found`. */
export async function markNotificationRead(
  { db, clock }: InboxContext,
  caller: Caller,
  id: string,
): Promise<{ id: string; read: true }> {
  if (!(await markRead(db, caller.userId, id, clock.now()))) throw new ServiceError('notification_not_found')
  return { id, read: true }
}

/** Marks all of the caller's notifications as read. Returns how many were unread. */
export async function markAllNotificationsRead(
  { db, clock }: InboxContext,
  caller: Caller,
): Promise<{ updated: number }> {
  return { updated: await markAllRead(db, caller.userId, clock.now()) }
}
