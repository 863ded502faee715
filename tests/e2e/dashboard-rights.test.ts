/** The dashboard in a real browser: who may do what, the palette's actions, one organization at a time, the form, charts. */
import { openChromium } from '@dock/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { confirm, signInOn, watchComplaints } from './support/dashboard-page.ts'
import { createDock, untilState } from './support/dock.ts'
import { joinAsPerson } from './support/join-as-member.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const eventually = { timeout: 30_000 }
const name = freshName('rights')
let browser: Browser
let page: Page
let member: Page
let dockId: string
const complaints: string[] = []
const address = (path: string): string => server.admin.baseUrl + path

beforeAll(async () => {
  browser = await openChromium()
  const person = (await joinAsPerson(server)).person
  dockId = (await createDock(server, { name })).id
  const open = async (who: { email: string; password: string }): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const opened = await context.newPage()
    watchComplaints(opened, complaints)
    await opened.goto(address('/'))
    await signInOn(opened, who)
    await opened.getByRole('heading', { name: 'Docks' }).waitFor()
    return opened
  }
  page = await open(server.admin)
  member = await open(person)
})
afterAll(() => browser.close())

const tooltipOf = async (on: Page, label: string) => {
  await on.getByRole('button', { name: label, exact: true }).first().hover()
  return on.getByRole('tooltip').first().innerText()
}

describe('what the service would refuse', () => {
  it('is shown disabled to a member, with the reason in its tooltip', async () => {
    await member.goto(address(`/docks/${dockId}?tab=settings`))
    const remove = member.getByRole('button', { name: 'Delete', exact: true })
    await expect.poll(() => remove.getAttribute('aria-description'), eventually).not.toBeNull()
    expect(await remove.getAttribute('aria-disabled')).toBe('true')
    expect(await tooltipOf(member, 'Delete')).toContain(
      'Only its creator and the admins of its organization may delete it.',
    )
    await remove.click({ force: true })
    expect(await member.getByRole('dialog').count()).toBe(0)
    for (const label of ['Delete this Dock', 'Freeze'])
      expect(await member.getByRole('button', { name: label }).getAttribute('aria-disabled')).toBe('true')
    await member.goto(address('/'))
    await member.getByRole('checkbox', { name: `Select ${name}` }).check()
    expect(await tooltipOf(member, 'Delete')).toContain('Only its creator')
  })

  it('is live for an admin', async () => {
    await page.goto(address(`/docks/${dockId}?tab=settings`))
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('dialog').getByText('This cannot be undone').waitFor()
    await page.keyboard.press('Escape')
  })
})

describe('the palette', () => {
  const type = async (on: Page, text: string): Promise<void> => {
    await on.getByRole('heading', { level: 1 }).waitFor()
    await on.keyboard.press('Control+k')
    await on.getByRole('dialog').getByRole('combobox').fill(text)
  }
  const options = (on: Page): Promise<string[]> => on.getByRole('option').allInnerTexts()

  it('has the actions that the state and the rights allow', async () => {
    await page.goto(address('/'))
    await type(page, name)
    await expect.poll(() => options(page), eventually).toContain(`Stop ${name}`)
    expect(await options(page)).toEqual(
      expect.arrayContaining([`Open a terminal in ${name}`, `Branch ${name}`, `Delete ${name}…`]),
    )
    expect(await options(page)).not.toContain(`Resume ${name}`)
    await page.keyboard.press('Escape')
    await member.goto(address('/'))
    await type(member, name)
    await expect.poll(() => options(member), eventually).toContain(`Stop ${name}`)
    expect(await options(member)).not.toContain(`Delete ${name}…`)
    await member.keyboard.press('Escape')
  })

  it('stops, resumes and deletes by a verb and a name', async () => {
    await page.goto(address('/'))
    await type(page, `stop ${name}`)
    await page.getByRole('option', { name: `Stop ${name}` }).click()
    await untilState(server, dockId, ['archived'])
    await page.goto(address(`/docks/${dockId}`))
    await page.getByText(/stopped it\./).waitFor()
    await page.getByText('Stopped', { exact: true }).waitFor()
    await type(page, `resume ${name}`)
    await page.getByRole('option', { name: `Resume ${name}` }).click()
    await untilState(server, dockId, ['ready', 'idle', 'running'])
    const other = freshName('doomed')
    const { id } = await createDock(server, { name: other })
    await type(page, `delete ${other}`)
    await page.getByRole('option', { name: `Delete ${other}…` }).click()
    await confirm(page, other, 'Delete')
    await expect
      .poll(() => server.client.call('readDock', { params: { id } }).catch(() => null), eventually)
      .toBeNull()
  })
})

it('the charts of a new Dock have no label twice, and no raw legend', async () => {
  await page.goto(address(`/docks/${dockId}?tab=overview`))
  await page.getByRole('figure').first().waitFor({ timeout: 150_000 })
  expect(await page.getByText('Time:').count()).toBe(0)
  expect(await page.locator('.u-legend').count()).toBe(0)
  await page.getByRole('figure').filter({ hasText: 'received' }).waitFor()
}, 200_000)

describe('one organization', () => {
  it('is that of every page, chosen in one place', async () => {
    const organization = await server.client.call('createOrganization', {
      body: { name: freshName('other') },
    })
    try {
      await page.goto(address('/'))
      await page.getByRole('link', { name }).waitFor()
      await page.getByLabel('Organization', { exact: true }).selectOption(organization.id)
      await page.getByRole('heading', { name: 'No Docks yet' }).waitFor()
      expect(await page.getByRole('link', { name }).count()).toBe(0)
      expect(await page.getByRole('combobox').count()).toBe(1)
      await page.goto(address('/snapshots'))
      await page.getByRole('heading', { name: 'No Snapshots yet' }).waitFor()
      await page.goto(address(`/docks/${dockId}`))
      await page.getByRole('heading', { name }).waitFor()
      await page.getByLabel('Organization', { exact: true }).selectOption(server.admin.organizationId)
      await page.waitForURL(address('/'))
      await page.getByRole('link', { name }).waitFor()
    } finally {
      await page.evaluate("localStorage.removeItem('dock-organization')")
      const headers = { 'x-confirm-delete': organization.id }
      await server.client
        .call('deleteOrganization', { params: { id: organization.id }, headers })
        .catch(() => undefined)
    }
  })

  it('begins each page at the same place', async () => {
    const left: number[] = []
    for (const path of [
      '/',
      '/templates',
      '/environments',
      '/inbox',
      '/keys',
      '/hosts',
      `/docks/${dockId}`,
    ]) {
      await page.setViewportSize({ width: 1800, height: 900 })
      await page.goto(address(path))
      const box = await page.getByRole('heading', { level: 1 }).boundingBox()
      left.push(Math.round(box?.x ?? -1))
    }
    await page.setViewportSize({ width: 1280, height: 800 })
    expect(new Set(left).size).toBe(1)
  })
})

describe('the form of a new Dock', () => {
  it('has presets, the real maximum, errors at the fields, and its button in the form', async () => {
    await page.goto(address('/docks/new'))
    const sizes = page.getByRole('group', { name: 'Sizes' })
    await sizes.getByRole('button', { name: 'Small' }).click()
    const memory = page.getByLabel('Memory in MiB')
    expect(await memory.inputValue()).toBe('1024')
    const [host] = await server.client.call('listHosts')
    const most = Math.floor((host?.memTotalBytes ?? 0) / 2 ** 20)
    await expect.poll(() => memory.getAttribute('max'), eventually).toBe(String(most))
    await memory.fill('999999')
    await page.getByText(/No host here has more than/).waitFor()
    const create = page.getByRole('button', { name: 'Create', exact: true })
    await create.click()
    await page.locator('input[aria-invalid=true]:focus').waitFor()
    await memory.fill('1024')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await create.click()
    await page.getByText(/name/i).and(page.locator('[id$="-error"]')).waitFor()
    const form = await page.getByRole('region', { name: 'Setup script' }).boundingBox()
    const button = await create.boundingBox()
    expect(button!.x).toBeGreaterThanOrEqual(form!.x - 8)
    expect(button!.x + button!.width).toBeLessThanOrEqual(form!.x + form!.width + 8)
  })
})

it('has nothing to complain about', () => {
  expect(complaints).toEqual([])
})
