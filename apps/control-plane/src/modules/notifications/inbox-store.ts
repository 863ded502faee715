/** SQL for inboxes. A user sees only alerts of organizations that they are currently a member of. */
import { sql } from 'kysely'
import type { Db, Row } from '../../database/database.ts'
import type { PagePlace } from '../../database/page-cursor.ts'

export type NotificationRow = {
  id: string
  eventId: string
  type: Row<'notifications'>['type']
  title: string
  body: string
  dockId: string
  read: boolean
  occurredAt: Date
}

const visible = sql<boolean>`exists (select 1 from memberships m
  where m.organization_id = n.organization_id and m.user_id = n.user_id)`

/** Returns a user's notifications after a page cursor, newest first. */
export async function listInbox(
  db: Db,
  request: { userId: string; after: PagePlace | null; limit: number },
): Promise<NotificationRow[]> {
  const { userId, after } = request
  const { rows } = await sql<NotificationRow>`
    select n.id, n.event_id as "eventId", n.type, n.title, n.body, n.dock_id as "dockId",
      n.read_at is not null as read, n.occurred_at as "occurredAt"
    from notifications n where n.user_id = ${userId} and ${visible}
      and ${after ? sql`(n.occurred_at, n.id) < (${after.at}, ${after.id}::uuid)` : sql`true`}
    order by n.occurred_at desc, n.id desc limit ${request.limit}`.execute(db)
  return rows
}

export async function countUnread(db: Db, userId: string): Promise<number> {
  const { rows } = await sql<{ unread: number }>`select count(*)::int as unread from notifications n
    where n.user_id = ${userId} and n.read_at is null and ${visible}`.execute(db)
  return rows[0]?.unread ?? 0
}

/** Marks a notification as read. Returns false if the user has no notification with this id. */
export async function markRead(db: Db, userId: string, id: string, now: Date): Promise<boolean> {
  const { rows } = await sql`update notifications n set read_at = coalesce(n.read_at, ${now})
    where n.id = ${id} and n.user_id = ${userId} and ${visible} returning n.id`.execute(db)
  return rows.length > 0
}

/** Marks all notifications of a user as read. Returns how many were unread. */
export async function markAllRead(db: Db, userId: string, now: Date): Promise<number> {
  const { numAffectedRows } = await sql`update notifications n set read_at = ${now}
    where n.user_id = ${userId} and n.read_at is null and ${visible}`.execute(db)
  return Number(numAffectedRows ?? 0)
}
