/** Open pages of the dashboard show what changes elsewhere: many tabs over one stream, and the pages of operators. */
import { openDatabase } from '@dock/control-plane/database'
import { newUuid } from '@dock/foundation'
import { openChromium } from '@dock/testkit'
import { sql } from 'kysely'
import type { Browser, BrowserContext, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databaseOf } from '../crash/scan.ts'
import { confirm, signInOn, watchComplaints } from './support/dashboard-page.ts'
import { createDock } from './support/dock.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const hostile = '<img src=x onerror=alert(1)>'
let browser: Browser
let context: BrowserContext
let page: Page
let receiver: Receiver
const complaints: string[] = []
/** Requests of the live stream that have begun. */
const streams: Request[] = []
const ended = new Set<Request>()

const address = (path: string): string => server.admin.baseUrl + path
const button = (name: string) => page.getByRole('button', { name, exact: true })
const table = (name: string) => page.getByRole('region', { name, exact: true })
/** The tabs that hold an open stream. */
const holders = (): Page[] =>
  streams
    .filter((request) => !ended.has(request))
    .flatMap((request) => {
      const tab = request.frame().page()
      return tab.isClosed() ? [] : [tab]
    })
const withDatabase = async (work: (db: ReturnType<typeof openDatabase>['db']) => Promise<unknown>) => {
  const database = openDatabase({ url: databaseOf(server.dataDir), maxConnections: 1 })
  await work(database.db).finally(() => database.close())
}

beforeAll(async () => {
  browser = await openChromium()
  receiver = await startReceiver()
  context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  context.setDefaultTimeout(120_000)
  context.on('request', (request) => {
    if (new URL(request.url()).pathname === '/api/live') streams.push(request)
  })
  context.on('requestfinished', (request) => ended.add(request))
  context.on('requestfailed', (request) => ended.add(request))
  page = await context.newPage()
  watchComplaints(page, complaints)
  await page.goto(address('/'))
  await signInOn(page, server.admin)
  await page.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
})
afterAll(async () => {
  await browser.close()
  await receiver.close()
})

describe('eight tabs of one browser', () => {
  it('show a change over one stream, also after the tab that holds it is closed', async () => {
    const { id } = await createDock(server, { name: freshName('seen') })
    const opened = await Promise.all(Array.from({ length: 7 }, () => context.newPage()))
    for (const tab of opened) watchComplaints(tab, complaints)
    await Promise.all(opened.map((tab) => tab.goto(address(`/docks/${id}`))))
    const rename = async (tabs: readonly Page[]) => {
      const name = freshName('renamed')
      await server.client.call('updateDock', { params: { id }, body: { name } })
      await Promise.all(tabs.map((tab) => tab.getByText(name).first().waitFor()))
    }
    await Promise.all(opened.map((tab) => tab.getByRole('heading', { name: /^seen-/ }).waitFor()))
    expect(new Set(holders())).toEqual(new Set([page]))
    await rename([page, ...opened])
    // The tab that holds the stream goes to another site, as a closed one does.
    await page.goto('about:blank')
    await rename(opened)
    expect(holders()).toHaveLength(1)
    expect(opened).toContain(holders()[0])
    await Promise.all(opened.map((tab) => tab.close()))
  })
})

describe('the page of a webhook', () => {
  it('shows deliveries as they happen with what came back, and sends one again with the same event', async () => {
    const path = `/${freshName('hook')}`
    await page.goto(address('/webhooks'))
    await button('New webhook').first().click()
    const name = `${freshName('hook')} ${hostile}`
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await page.getByRole('dialog').getByLabel('Address').fill(receiver.url(path))
    await button('Add webhook').click()
    await button('I have stored it').click()
    await page.getByRole('link', { name }).click()
    receiver.respondWith(path, { status: 422, body: `${hostile}\u202e\0` })
    await button('Send a test').click()
    const deliveries = table('Deliveries')
    await deliveries.getByText('422', { exact: true }).waitFor()
    await deliveries.getByRole('button', { name: /^Details/ }).click()
    const details = page.getByRole('dialog', { name: 'webhook.test' })
    const bodyOf = (what: string) =>
      details.getByRole('textbox', { name: `Body of the ${what}` }).inputValue()
    expect(await bodyOf('answer')).toBe(`${hostile}\\u{202e}`)
    const [{ body: sent } = { body: '' }] = receiver.receivedAt(path)
    expect(JSON.parse(await bodyOf('request'))).toEqual(JSON.parse(sent))
    await details.getByRole('button', { name: 'Redeliver' }).click()
    await details.waitFor({ state: 'hidden' })
    await deliveries.getByText('204', { exact: true }).waitFor()
    await deliveries
      .getByRole('button', { name: /^Redeliver/ })
      .first()
      .click()
    await expect.poll(() => deliveries.getByText('204', { exact: true }).count()).toBe(2)
    const ids = receiver.receivedAt(path).map(({ body }) => (JSON.parse(body) as { id: string }).id)
    expect([ids.length, new Set(ids).size]).toEqual([3, 1])
    await button('Delete').click()
    await confirm(page, name, 'Delete')
    await page.getByRole('heading', { name: 'Webhooks', exact: true }).waitFor()
  })
})

describe('the page of a host', () => {
  it('shows the Docks of all organizations on it as they come and go', async () => {
    await page.goto(address('/hosts'))
    await table('Hosts').getByRole('link').first().click()
    await page.getByText('Slots used').or(page.getByText('slots used')).first().waitFor()
    const { id, name } = await createDock(server, { name: freshName('placed') })
    await table('Docks of the host').getByText(name!).waitFor()
    await server.client.call('stopDock', { params: { id }, body: {} })
    await expect.poll(() => page.getByText(name!).count()).toBe(0)
  })

  it('shows what comes into quarantine, and deletes it by its name', async () => {
    const id = newUuid()
    await page.goto(address('/hosts'))
    await page.getByRole('heading', { name: 'Quarantine' }).waitFor()
    await withDatabase((db) =>
      sql`insert into quarantine (id, kind, thing_id, state, first_seen_at)
        values (${id}, 'objects', ${newUuid()}, 'held', now())`.execute(db),
    )
    const name = id.slice(0, 8)
    const row = page.getByRole('row').filter({ hasText: name })
    await row.getByText('object store').waitFor()
    expect(await row.getByRole('button', { name: 'Adopt' }).count()).toBe(0)
    await row.getByRole('button', { name: 'Delete' }).click()
    await confirm(page, name, 'Delete')
    await expect.poll(() => row.count()).toBe(0)
  })
})

describe('the inbox', () => {
  it('is read page by page, and shows new alerts by itself', async () => {
    const text = freshName('alert')
    const alert = (count: number) => (db: ReturnType<typeof openDatabase>['db']) =>
      sql`insert into notifications (user_id, organization_id, event_id, type, title, body, dock_id, occurred_at)
        select u.id, ${server.admin.organizationId}, gen_random_uuid(), 'disk_full', ${`${text} ${hostile}`}, 'Full.',
          gen_random_uuid(), date_trunc('milliseconds', now()) from users u, generate_series(1, ${count}) where u.email = ${server.admin.email}`.execute(
        db,
      )
    await withDatabase(alert(60))
    await page.goto(address('/inbox'))
    const alerts = page.getByRole('list', { name: 'Alerts' }).getByRole('listitem').filter({ hasText: text })
    await alerts.first().waitFor()
    expect(await alerts.count()).toBe(50)
    await button('Show older alerts').click()
    await expect.poll(() => alerts.count()).toBe(60)
    await withDatabase(alert(1))
    await expect.poll(() => alerts.count()).toBe(61)
    await button('Mark all as read').click()
    await expect.poll(() => alerts.getByRole('img', { name: 'unread' }).count()).toBe(0)
    await withDatabase((db) =>
      sql`delete from notifications where title = ${`${text} ${hostile}`}`.execute(db),
    )
  })
})

describe('plans', () => {
  it('lists organizations by a part of their name', async () => {
    await page.goto(address('/plans'))
    const organizations = table('Organizations')
    await organizations.getByRole('row').nth(1).waitFor()
    await page.getByLabel('Search by name or slug').fill('no such organization')
    await button('Search').click()
    await expect.poll(() => organizations.getByRole('row').count()).toBe(1)
    expect(new URL(page.url()).searchParams.get('q')).toBe('no such organization')
  })
})

describe('a terminal', () => {
  it('runs nothing of what a Dock prints, however long the line', async () => {
    const { id } = await createDock(server, { name: freshName('loud') })
    await page.addInitScript('navigator.clipboard.writeText = async (text) => { window.copied = text }')
    await page.goto(address(`/docks/${id}?tab=terminal`))
    const screen = page.locator('.xterm-rows')
    await expect.poll(() => screen.innerText()).toMatch(/\$\s*$/)
    const escapes = String.raw`\033]0;evil\007\033]2;evil\007\033]52;c;ZXZpbA==\007\033]8;;javascript:alert(1)\007link\033]8;;\007`
    await page.keyboard.type(
      `printf '${escapes}'; head -c 1000000 /dev/zero | tr '\\0' x; echo; echo $((40+2)) is it\n`,
    )
    await expect.poll(() => screen.innerText()).toContain('42 is it')
    expect(await page.title()).not.toContain('evil')
    expect(await page.evaluate('window.copied')).toBeUndefined()
  })
})

it('none of these pages breaks the content security policy, or logs an error', () => {
  expect(complaints).toEqual([])
})
