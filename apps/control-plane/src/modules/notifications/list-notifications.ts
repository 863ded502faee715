import { appPaths, type Notification, type NotificationPage } from '@dock/contract'
import type { Db } from '../../database/database.ts'
import { decodePageCursor, encodePageCursor } from '../../database/page-cursor.ts'
import type { Caller } from '../accounts/index.ts'
import { countUnread, listInbox, type NotificationRow } from './inbox-store.ts'

const view = (row: NotificationRow): Notification => ({
  id: row.id,
  eventId: row.eventId,
  type: row.type,
  title: row.title,
  body: row.body,
  dockId: row.dockId,
  linkPath: appPaths.dock(row.dockId),
  read: row.read,
  occurredAt: row.occurredAt.toISOString(),
})

/** Returns a page of the caller's inbox, newest first, and the number of unread notifications in the whole inbox. */
export async function listNotifications(
  db: Db,
  caller: Caller,
  query: { limit: number; cursor?: string | undefined },
): Promise<NotificationPage> {
  const { userId } = caller
  const after = query.cursor === undefined ? null : decodePageCursor(query.cursor)
  const [rows, unreadCount] = await Promise.all([
    listInbox(db, { userId, after, limit: query.limit + 1 }),
    countUnread(db, userId),
  ])
  const shown = rows.slice(0, query.limit)
  const last = shown.at(-1)
  const more = rows.length > query.limit
  return {
    notifications: shown.map(view),
    nextCursor: more && last ? encodePageCursor({ at: last.occurredAt, id: last.id }) : null,
    unreadCount,
  }
}
