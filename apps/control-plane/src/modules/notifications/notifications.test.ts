import { type NotificationPage, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { raiseAlert } from './alert-statement.ts'

let server: TestControlPlane
let organizationId: string
beforeEach(async () => {
  server = await startTestControlPlane()
  organizationId = server.admin.organizationId
})
afterEach(() => server.stop())

const raise = (minute: number, organization = organizationId) =>
  raiseAlert(server.database.db, {
    type: 'disk_full',
    dockId: newUuid(),
    organizationId: organization,
    title: `alert ${minute}`,
    body: 'The disk is full.',
    at: new Date(Date.UTC(2026, 0, 1, 0, minute)),
    eventId: newUuid(),
  })
const page = async (query = ''): Promise<NotificationPage> => {
  const { body } = await server.call('GET', `/v1/notifications${query}`)
  return routes.listNotifications.response.parse(body.data)
}
const titles = ({ notifications }: NotificationPage) => notifications.map(({ title }) => title)
const setForOrganization = async (body: object, headers: Record<string, string>) => {
  const response = await server.fetch('/v1/notifications/preferences/organization', {
    method: 'PUT',
    headers,
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as { code?: string; data?: unknown } }
}

it('lists the inbox page by page, newest first, with the number of unread notifications in all pages', async () => {
  for (const minute of [2, 1, 3]) await raise(minute)
  const first = await page('?limit=2')
  expect(titles(first)).toEqual(['alert 3', 'alert 2'])
  expect(first.unreadCount).toBe(3)
  const second = await page(`?limit=2&cursor=${first.nextCursor}`)
  expect([titles(second), second.nextCursor]).toEqual([['alert 1'], null])
  expect(second.notifications[0]).toMatchObject({
    type: 'disk_full',
    read: false,
    linkPath: `/docks/${second.notifications[0]?.dockId}`,
    occurredAt: '2026-01-01T00:01:00.000Z',
  })
  const wrong = await server.call('GET', '/v1/notifications?cursor=nonsense')
  expect([wrong.status, wrong.body.code]).toEqual([400, 'validation_error'])
})

it('marks one notification as read, and then all others', async () => {
  for (const minute of [1, 2, 3]) await raise(minute)
  const id = (await page()).notifications[0]!.id
  for (const _ of ['once', 'again']) {
    const answer = await server.call('POST', `/v1/notifications/${id}/read`)
    expect(answer.body.data).toEqual({ id, read: true })
  }
  expect((await page()).unreadCount).toBe(2)
  const all = await server.call('POST', '/v1/notifications/read-all')
  expect(all.body.data).toEqual({ updated: 2 })
  expect(await page()).toMatchObject({ unreadCount: 0, notifications: [{ read: true }, {}, {}] })
})

it('hides the alerts of other users and of organizations that the user has left', async () => {
  await raise(1)
  const { db } = server.database
  const mine = (await page()).notifications[0]!.id
  const other = newUuid()
  await db.insertInto('users').values({ id: other, name: 'O', email: 'o@example.test' }).execute()
  await sql`update notifications set user_id = ${other}`.execute(db)
  const foreign = await server.call('POST', `/v1/notifications/${mine}/read`)
  const absent = await server.call('POST', `/v1/notifications/${newUuid()}/read`)
  expect([foreign.status, foreign.body.code]).toEqual([404, 'notification_not_found'])
  expect(foreign.body).toEqual(absent.body)
  await raise(2)
  expect(await page()).toMatchObject({ unreadCount: 1 })
  await sql`delete from memberships`.execute(db)
  expect(await page()).toEqual({ notifications: [], nextCursor: null, unreadCount: 0 })
  expect((await server.call('POST', '/v1/notifications/read-all')).body.data).toEqual({ updated: 0 })
})

it('lets an admin with a session set the preferences of the organization, and each user their own', async () => {
  const read = async () => {
    const { body } = await server.call(
      'GET',
      `/v1/notifications/preferences?organizationId=${organizationId}`,
    )
    return routes.readNotificationPreferences.response.parse(body.data).preferences
  }
  expect(await read()).toHaveLength(6)
  expect(await read()).toContainEqual({
    type: 'disk_warning',
    audience: 'members',
    enabled: true,
    emailEnabled: false,
  })
  const wanted = { organizationId, type: 'disk_warning', enabled: false }
  const byKey = await server.call('PUT', '/v1/notifications/preferences/organization', wanted)
  expect([byKey.status, byKey.body.code]).toEqual([403, 'session_required'])
  const headers = await server.signIn()
  for (const _ of ['once', 'again'])
    expect((await setForOrganization(wanted, headers)).body.data).toEqual(wanted)
  const personal = { type: 'disk_warning', emailEnabled: true }
  for (const _ of ['once', 'again'])
    expect((await server.call('PUT', '/v1/notifications/preferences/personal', personal)).body.data).toEqual(
      personal,
    )
  expect(await read()).toContainEqual({
    type: 'disk_warning',
    audience: 'members',
    enabled: false,
    emailEnabled: true,
  })

  await sql`update memberships set role = 'member'`.execute(server.database.db)
  expect(await setForOrganization(wanted, headers)).toMatchObject({
    status: 403,
    body: { code: 'forbidden' },
  })
  const foreign = { ...wanted, organizationId: newUuid() }
  expect(await setForOrganization(foreign, headers)).toMatchObject({
    status: 404,
    body: { code: 'organization_not_found' },
  })
})
