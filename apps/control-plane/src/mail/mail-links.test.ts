/** Where the links of all mails lead. The dashboard's own test opens each of its pages. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { appPaths } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { raiseAlert } from '../modules/notifications/index.ts'

const appUrl = 'https://dock.example.test'
const token = '[A-Za-z0-9._-]+'
const dockId = newUuid()
let server: TestControlPlane
beforeAll(async () => {
  server = await startTestControlPlane({ environment: { DOCK_SIGNUP: 'open', DOCK_APP_URL: appUrl } })
})
afterAll(() => server.stop())

const authenticate = (path: string, body: object) =>
  server.fetch(`/api/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.config.apiUrl },
    body: JSON.stringify(body),
  })
/** So long that no mail waits for more alerts to tell of. */
const longAgo = () => new Date(Date.now() - 60_000)
const alert = (item: string) => ({
  type: 'disk_full' as const,
  dockId,
  organizationId: server.admin.organizationId,
  at: longAgo(),
  title: 'Full',
  body: 'The disk is full.',
  eventId: newUuid(),
  shared: { cause: 'one cause', item, title: '{count} disks are full', body: 'They are full.' },
})
/** The links of all mails that were sent, without line breaks of their encoding. */
const sentLinks = async (): Promise<string[]> => {
  const outbox = join(server.config.controlDir, 'outbox')
  const names = (await readdir(outbox)).filter((name) => name.endsWith('.eml'))
  const mails = await Promise.all(names.map((name) => readFile(join(outbox, name), 'utf8')))
  return mails.flatMap((mail) => {
    const text = mail.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=')
    return [...text.matchAll(/^https?:\/\/\S+$/gm)].map(([link]) => link)
  })
}
const exactly = (url: string): RegExp =>
  new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll('TOKEN', token)}$`)

it('every mail leads to a page of the dashboard, or to a route of the service', async () => {
  const { email, organizationId } = server.admin
  // Before the others, because it does not wake the mailer, as they do.
  await raiseAlert(server.database.db, alert('one'))
  await authenticate('/sign-up/email', {
    email: 'new@example.test',
    password: 'a long password',
    name: 'New',
  })
  await authenticate('/request-password-reset', { email })
  await server.call('POST', `/v1/organizations/${organizationId}/members`, {
    email: 'guest@example.test',
  })
  const api = server.config.apiUrl
  const callback = encodeURIComponent(appUrl + appPaths.organizations())
  const expected = [
    exactly(`${api}/api/auth/verify-email?token=TOKEN&callbackURL=${callback}`),
    exactly(appUrl + appPaths.resetPassword('TOKEN')),
    exactly(appUrl + appPaths.invitation('TOKEN')),
    exactly(appUrl + appPaths.dock(dockId)),
    exactly(`${api}/mail/unsubscribe/TOKEN`),
  ]
  await expect
    .poll(async () => {
      const links = await sentLinks()
      return expected.filter((pattern) => !links.some((link) => pattern.test(link))).map(String)
    })
    .toEqual([])
  const links = await sentLinks()
  expect(links.filter((link) => !expected.some((pattern) => pattern.test(link)))).toEqual([])
})
