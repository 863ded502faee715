/** The dashboard in a real browser, on real Docks. */
import { openChromium } from '@dock/testkit'
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { watchComplaints } from './support/dashboard-page.ts'
import { createDock } from './support/dock.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
let browser: Browser
let page: Page
/** Errors of the console, and reports of the content security policy. */
const complaints: string[] = []

const open = (path: string) => page.goto(server.admin.baseUrl + path)

beforeAll(async () => {
  browser = await openChromium()
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  watchComplaints(page, complaints)
})
afterAll(async () => {
  await browser.close()
})

describe('the dashboard', () => {
  it('loads itself again when scripts were lost on the way, and says when that does not help', async () => {
    const visitor = await browser.newPage({ baseURL: server.admin.baseUrl })
    // More than one load asks for, and fewer than the loads after which the page gives up.
    const lostMax = 3
    let lost = 0
    await visitor.route('**/assets/*.js', async (route) => {
      if (lost > lostMax) return route.continue()
      lost++
      await route.abort('connectionreset')
    })
    await visitor.goto('/')
    await visitor.getByLabel('Email address').waitFor()

    lost = Number.NEGATIVE_INFINITY
    await visitor.reload()
    await visitor.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor()
    lost = lostMax + 1
    await visitor.getByRole('button', { name: 'Try again' }).click()
    await visitor.getByLabel('Email address').waitFor()
    await visitor.close()
  })

  it('asks for the sign-in, and leads back to the page that was asked for', async () => {
    await open('/?q=nothing')
    await page.getByRole('heading', { name: 'Sign in to Dock' }).waitFor()
    await page.getByLabel('Email address').fill(server.admin.email)
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Password').fill(server.admin.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'No Dock matches' }).waitFor()
    expect(new URL(page.url()).search).toBe('?q=nothing')
  })

  it('makes a Dock with one click and opens its terminal', async () => {
    await open('/')
    await page.getByRole('button', { name: 'New Dock' }).click()
    const screen = page.locator('.xterm-rows')
    await screen.waitFor()
    await expect.poll(() => screen.innerText()).toMatch(/\$\s*$/)
    await page.keyboard.type('uname -a; echo $((40+2)) is it\n')
    await expect.poll(() => screen.innerText()).toContain('42 is it')
    expect(await screen.innerText()).toContain('Linux')
    // The shell is a process of the Dock: another load of the page shows it again, with what it has printed.
    await page.reload()
    await expect.poll(() => screen.innerText()).toContain('42 is it')
  })

  it('stops the Dock, tells why in the timeline, and resumes it', async () => {
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByRole('heading', { name: 'This Dock is stopped' }).waitFor()
    await page.getByRole('link', { name: 'Timeline' }).click()
    await page.getByText(/Running → Stopping/).waitFor()
    const parts = page.getByRole('navigation', { name: 'Parts of the Dock' })
    await parts.getByRole('link', { name: 'Snapshots' }).click()
    await page.getByRole('checkbox', { name: 'Choose the Snapshot', disabled: false }).first().waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Stop' }).waitFor()
    await page.getByRole('link', { name: 'Terminal' }).click()
    await expect.poll(() => page.locator('.xterm-rows').innerText()).toMatch(/\$\s*$/)
    await page.getByRole('link', { name: 'Connect' }).click()
    await page.getByText('ssh -p').waitFor()
  })

  it('shows what others change, without a reload, and names as text', async () => {
    await open('/')
    const name = `${freshName('live')} <img src=x onerror=alert(1)>`
    const { id } = await createDock(server, { name })
    await page.getByRole('link', { name }).waitFor()
    await server.client.call('updateDock', { params: { id }, body: { name: 'renamed-elsewhere' } })
    await page.getByRole('link', { name: 'renamed-elsewhere' }).waitFor()
  })

  it('loads a part of a page again that was lost, by itself or when it is asked to', async () => {
    const context = await browser.newContext({ storageState: await page.context().storageState() })
    const tab = await context.newPage()
    let loads = 0
    tab.on('load', () => loads++)
    const again = tab.getByRole('alert').getByRole('button', { name: 'Try again' })
    /** Clicks *Try again* until `part` is there: Chromium may drop code at that load as well, as said below. */
    const tryAgainUntil = async (part: Locator): Promise<void> => {
      do {
        const loaded = tab.waitForEvent('load')
        await again.click()
        await loaded
        await part.or(again).first().waitFor()
      } while (!(await part.isVisible()))
    }
    // One route for the whole test: Chromium can lose a request that begins while a route is removed.
    let lost = { part: 'processes-tab-', times: 1 }
    await tab.route('**/assets/*.js', (route) => {
      if (!route.request().url().includes(lost.part) || lost.times === 0) return route.continue()
      lost.times--
      return route.abort('connectionreset')
    })
    const { id } = await createDock(server)
    await tab.goto(`${server.admin.baseUrl}/docks/${id}?tab=processes`)
    await tab.getByLabel('Command to start').waitFor()
    // It may load more often: Chromium drops requests whenever a Dock starts on its machine, and the page loads once more.
    await expect.poll(() => loads).toBeGreaterThan(1)

    lost = { part: 'files-tab-', times: 100 }
    await tab
      .getByRole('navigation', { name: 'Parts of the Dock' })
      .getByRole('link', { name: 'Files' })
      .click()
    await again.waitFor()
    lost.times = 1
    await tryAgainUntil(tab.getByRole('button', { name: 'New folder' }))

    lost = { part: 'palette-', times: 100 }
    await tab.keyboard.press('Control+k')
    await again.waitFor()
    lost.times = 0
    await tryAgainUntil(tab.getByRole('button', { name: 'New folder' }))
    await tab.keyboard.press('Control+k')
    await tab.getByRole('dialog').getByRole('combobox').waitFor()
    await context.close()
  })

  it('is deleted only by its name', async () => {
    await page.getByRole('link', { name: 'renamed-elsewhere' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true)
    await dialog.getByLabel(/Type/).fill('renamed-elsewhere')
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
    await expect.poll(() => page.getByRole('link', { name: 'renamed-elsewhere' }).count()).toBe(0)
  })

  it('breaks no rule of its content security policy, and logs no error', () => {
    expect(complaints).toEqual([])
  })
})
