/** The audit log in a real browser: of an organization for its owners, of the instance for its admins. */
import { readFile } from 'node:fs/promises'
import type { AuditEntry } from '@dock/contract'
import { openDatabase } from '@dock/control-plane/database'
import { newUuid } from '@dock/foundation'
import { openChromium } from '@dock/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databaseOf } from '../crash/scan.ts'
import { signInOn, watchComplaints } from './support/dashboard-page.ts'
import { createDock, deleteDock } from './support/dock.ts'
import { joinAsPerson } from './support/join-as-member.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const name = freshName('audited')
const gone = freshName('gone')
const hostile = '<img src=x onerror=alert(1)>'
/** Days long ago, which no other entry has. */
const day = '2026-01-15'
const entriesOfOneDay = 60
let browser: Browser
let page: Page
let member: Page
let memberEmail: string
let memberId: string
let dockId: string
const complaints: string[] = []
const address = (path: string): string => server.admin.baseUrl + path
const logPath = (query = ''): string => `/organization/${server.admin.organizationId}/audit${query}`
const entries = (at: Page) => at.getByRole('region', { name: 'Entries' })
const row = (at: Page, text: string) => entries(at).getByRole('row').filter({ hasText: text })
const counted = { timeout: 30_000 }

beforeAll(async () => {
  browser = await openChromium()
  const open = async (who: { email: string; password: string }): Promise<Page> => {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      acceptDownloads: true,
    })
    const opened = await context.newPage()
    watchComplaints(opened, complaints)
    await opened.goto(address('/'))
    await signInOn(opened, who)
    await opened.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
    return opened
  }
  const { person } = await joinAsPerson(server)
  memberEmail = person.email
  page = await open(server.admin)
  member = await open(person)
  dockId = (await createDock(server, { name })).id
  await deleteDock(server, (await createDock(server, { name: gone })).id)
  const { client, admin } = server
  const { userId } = (await client.call('listMembers', { params: { id: admin.organizationId } })).find(
    ({ email }) => email === memberEmail,
  )!
  // Other tests add members of the same name to this organization.
  memberId = userId
  await client.call('changeMemberRole', {
    params: { id: admin.organizationId, userId },
    body: { role: 'admin' },
  })
  const database = openDatabase({ url: databaseOf(server.dataDir), maxConnections: 1 })
  const at = new Date(`${day}T12:00:00Z`)
  const of = { organization_id: admin.organizationId, through: 'session', at } as const
  await database.db
    .insertInto('audit_entries')
    .values([
      { ...of, action: 'webhook.created', actor_id: userId, target_type: 'webhook', target_name: hostile },
      ...Array.from({ length: entriesOfOneDay }, (_, index) => ({
        ...{ ...of, action: 'webhook.deleted', actor_id: newUuid(), target_type: 'webhook' },
        ...{ at: new Date(at.getTime() - (index + 1) * 1000), target_name: `hook ${index}` },
      })),
    ])
    .execute()
    .finally(() => database.close())
})
afterAll(() => browser.close())

describe('an owner', () => {
  it('reads who did what, and is led to what still exists', async () => {
    await page.goto(address(`/organization/${server.admin.organizationId}/members`))
    await page.getByRole('main').getByRole('link', { name: 'Audit log', exact: true }).click()
    const created = row(page, `created the Dock ${name}`)
    await created.waitFor()
    await expect.poll(() => created.getByRole('link', { name }).count(), counted).toBe(1)
    expect(await created.locator('time').getAttribute('title')).toMatch(/\d:\d\d/)
    expect(await created.innerText()).toContain('API key')
    expect(await row(page, `deleted the Dock ${gone}`).getByRole('link').count()).toBe(0)
    await row(page, 'changed the role of A Member from member to admin').waitFor()
    await row(page, `invited ${memberEmail}`).waitFor()
    await created.getByRole('link', { name }).click()
    await page.waitForURL(address(`/docks/${dockId}`))
  })

  it('filters by kind, person and days, and the address keeps the filters', async () => {
    await page.goto(address(logPath()))
    await page.getByLabel('Kind of action').selectOption({ label: 'Members' })
    await page.waitForURL('**/audit?action=member')
    await expect.poll(() => row(page, 'created the Dock').count(), counted).toBe(0)
    await row(page, 'changed the role').first().waitFor()
    await page.getByLabel('Kind of action').selectOption({ label: 'All actions' })
    await page.getByLabel('From').fill(day)
    await page.getByLabel('To').fill(day)
    await row(page, 'An erased person').first().waitFor()
    await page.getByLabel('Person').selectOption(memberId)
    await expect.poll(() => entries(page).getByRole('row').count(), counted).toBe(2)
    const shown = new URL(page.url())
    expect(Object.fromEntries(shown.searchParams)).toMatchObject({ from: day, to: day })
    await page.reload()
    await row(page, `created the webhook ${hostile}`).waitFor()
    expect(await page.getByLabel('From').inputValue()).toBe(day)
    await page.getByLabel('Kind of action').selectOption({ label: 'Docks' })
    await page.getByText('No entry matches').waitFor()
    await page.goBack()
    await row(page, 'created the webhook').waitFor()
  })

  it('gets older entries with a button, and all of them as a file', async () => {
    await page.goto(address(logPath(`?from=${day}&to=${day}`)))
    const rows = entries(page).getByRole('row')
    await expect.poll(() => rows.count(), counted).toBe(51)
    await page.getByRole('button', { name: 'Show older entries' }).click()
    await expect.poll(() => rows.count(), counted).toBe(entriesOfOneDay + 2)
    expect(await page.getByRole('button', { name: 'Show older entries' }).count()).toBe(0)
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('audit.jsonl')
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n')
    expect(lines).toHaveLength(entriesOfOneDay + 1)
    expect((JSON.parse(lines[0]!) as AuditEntry).target?.name).toBe(hostile)
  })

  it('reaches the filters, the export and the table by the keyboard', async () => {
    await page.goto(address(logPath()))
    await entries(page).waitFor()
    await page.getByLabel('Kind of action').focus()
    const reached: string[] = []
    for (let step = 0; step < 12; step += 1) {
      await page.keyboard.press('Tab')
      reached.push(
        await page.evaluate<string>(
          "document.activeElement.getAttribute('aria-label') ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent",
        ),
      )
    }
    const order = ['Person', 'From', 'To', 'Export', 'Entries']
    expect(order.filter((label) => reached.includes(label))).toEqual(order)
  })
})

it('an admin sees no link, and the refusal at the address', async () => {
  await member.goto(address(`/organization/${server.admin.organizationId}/members`))
  await member.getByRole('list', { name: 'Members' }).waitFor()
  expect(await member.getByRole('link', { name: 'Audit log', exact: true }).count()).toBe(0)
  for (const path of [logPath(), '/audit']) {
    await member.goto(address(path))
    await member
      .getByRole('alert')
      .getByText(/request [0-9a-f-]{36}/)
      .waitFor()
    expect(await member.getByRole('link', { name: 'Export' }).count()).toBe(0)
  }
})

it('an instance admin reads the log of the instance, with the organization of each entry', async () => {
  await page.goto(address('/'))
  await page
    .getByRole('navigation', { name: 'This instance' })
    .getByRole('link', { name: 'Audit log' })
    .click()
  const created = row(page, `created the Dock ${name}`)
  await created.waitFor()
  const organization = await server.client.call('readOrganization', {
    params: { id: server.admin.organizationId },
  })
  expect(await created.innerText()).toContain(organization.name)
  await expect.poll(() => created.getByRole('link', { name }).count(), counted).toBe(1)
})

it('fits a phone: only the table scrolls sideways', async () => {
  await page.setViewportSize({ width: 360, height: 740 })
  for (const path of [logPath(), '/audit']) {
    await page.goto(address(path))
    await entries(page).waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(360)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
})

it('has nothing to complain about', () => {
  expect(complaints).toEqual([])
})
