import { newUuid } from '@dock/foundation'
import { addPerson } from '@dock/testkit'
import {
  startTestControlPlane,
  type TestControlPlane,
  testAuthSecret,
} from '@dock/testkit/src/test-control-plane.ts'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { raiseAlert } from './alert-statement.ts'
import { createUnsubscribing, type Unsubscribing } from './unsubscribing.ts'

let server: TestControlPlane
let links: Unsubscribing
let userId: string
beforeEach(async () => {
  server = await startTestControlPlane()
  links = createUnsubscribing({
    db: server.database.db,
    apiUrl: server.config.apiUrl,
    secret: testAuthSecret,
  })
  const { rows } = await sql<{ id: string }>`select id from users`.execute(server.database.db)
  userId = rows[0]!.id
})
afterEach(() => server.stop())

const pathOf = (url: string): string => new URL(url).pathname
const post = (path: string, body = 'List-Unsubscribe=One-Click') =>
  server.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  })
const settings = async () => {
  const { rows } = await sql`select type, email_enabled from personal_alert_settings`.execute(
    server.database.db,
  )
  return rows
}
const raise = (type: 'disk_full' | 'stop_refused', at = new Date()) =>
  raiseAlert(server.database.db, {
    type,
    dockId: newUuid(),
    organizationId: server.admin.organizationId,
    title: 'T',
    body: 'B',
    at,
    eventId: newUuid(),
  })

it('shows a button to a visitor who opens the link, and changes nothing', async () => {
  const { url } = links.linkOf(userId, 'disk_full')
  for (const method of ['GET', 'HEAD']) {
    const response = await server.fetch(pathOf(url), { method })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-store')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    const page = await response.text()
    if (method === 'GET') expect(page).toMatch(/<form method="post"><button>/)
  }
  expect(await settings()).toEqual([])
})

it('turns off the mails of one type with one POST, without a login, and cancels those that wait', async () => {
  await server.controlPlane.stop()
  await raise('disk_full')
  await raise('stop_refused')
  const { url } = links.linkOf(userId, 'disk_full')
  for (const _ of ['once', 'again']) {
    const response = await post(pathOf(url))
    expect([response.status, response.headers.get('set-cookie')]).toEqual([200, null])
    expect(await response.text()).toContain('no longer mails you when the disk of a Dock is full')
  }
  expect(await settings()).toEqual([{ type: 'disk_full', email_enabled: false }])
  await raise('disk_full')
  const { rows } = await sql<{ alert_type: string }>`select alert_type from outbox_mails`.execute(
    server.database.db,
  )
  expect(rows.map((row) => row.alert_type)).toEqual(['stop_refused'])
  const inbox = await sql`select 1 from notifications`.execute(server.database.db)
  expect(inbox.rows).toHaveLength(3)
})

it('cancels waiting mails also when a person turns them off in the settings or leaves the organization', async () => {
  await server.controlPlane.stop()
  const waiting = async () => {
    const { rows } = await sql<{ to: string; type: string }>`
      select recipient as to, alert_type as type from outbox_mails where kind = 'alert' order by 1, 2`.execute(
      server.database.db,
    )
    return rows.map(({ to, type }) => `${to} ${type}`)
  }
  const { organizationId } = server.admin
  const member = await addPerson(server, { organizationId, role: 'member' })
  const { rows } = await sql<{ email: string }>`select email from users where id = ${userId}`.execute(
    server.database.db,
  )
  const admin = rows[0]!.email
  await sql`update users set email_verified = true`.execute(server.database.db)
  await raise('disk_full')
  await raise('stop_refused')
  const all = [admin, member.email].flatMap((to) => [`${to} disk_full`, `${to} stop_refused`]).toSorted()
  expect(await waiting()).toEqual(all)
  await server.call('PUT', '/v1/notifications/preferences/personal', {
    type: 'disk_full',
    emailEnabled: false,
  })
  expect(await waiting()).toEqual(all.filter((each) => each !== `${admin} disk_full`))
  const path = `/v1/organizations/${organizationId}/members/${member.userId}`
  expect((await server.call('DELETE', path)).status).toBe(200)
  expect(await waiting()).toEqual([`${admin} stop_refused`])
})

it('works from the file of a sent mail', async () => {
  await raise('disk_full')
  const { readdir, readFile } = await import('node:fs/promises')
  const outbox = `${server.config.controlDir}/outbox`
  await expect.poll(() => readdir(outbox).catch(() => [])).toHaveLength(1)
  const mail = await readFile(`${outbox}/${(await readdir(outbox))[0]}`, 'utf8')
  const url = /^List-Unsubscribe: <(\S+)>$/m.exec(mail)![1]!
  expect(url).toBe(links.linkOf(userId, 'disk_full').url)
  expect((await post(pathOf(url), '')).status).toBe(200)
  expect(await settings()).toHaveLength(1)
})

it('refuses a link that is not signed by this instance', async () => {
  const { url } = links.linkOf(userId, 'disk_full')
  const [user, , signature] = pathOf(url).split('/').at(-1)!.split('.')
  const forged = createUnsubscribing({ db: server.database.db, apiUrl: '', secret: 'another secret' })
  for (const token of [
    `${user}.stop_refused.${signature}`,
    `${newUuid()}.disk_full.${signature}`,
    `${user}.disk_full.`,
    `${user}.disk_full`,
    `${user}.disk_full.${signature}.x`,
    `${user}.disk_full.${signature!.slice(1)}`,
    'x',
    '%00',
    pathOf(`https://x${forged.linkOf(userId, 'disk_full').url}`)
      .split('/')
      .at(-1)!,
  ]) {
    const path = `/mail/unsubscribe/${token}`
    expect([token, (await server.fetch(path)).status, (await post(path)).status]).toEqual([token, 404, 404])
  }
  expect(await settings()).toEqual([])
})

it('does nothing for a person who was erased', async () => {
  const { url } = links.linkOf(newUuid(), 'disk_full')
  expect((await post(pathOf(url))).status).toBe(200)
  expect(await settings()).toEqual([])
})
