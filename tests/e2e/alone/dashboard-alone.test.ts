/**
 * Pages on a server of their own: the control plane is killed under open ones, and people open the links of mails.
 */
import type { RuntimeName } from '@dock/contract'
import { openDatabase } from '@dock/control-plane/database'
import { raiseAlert } from '@dock/control-plane/src/modules/notifications/index.ts'
import { newUuid } from '@dock/foundation'
import { openChromium } from '@dock/testkit'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { sql } from 'kysely'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { databaseOf } from '../../crash/scan.ts'
import { killApp } from '../support/app-process.ts'
import { signInOn } from '../support/dashboard-page.ts'
import { confirmationLink, mailedLink } from '../support/mailed-link.ts'
import { newDataDir, removeDataDir, type Server, startServer } from '../support/server.ts'

let dataDir: string
let server: Server
let browser: Browser
let tabs: Page[]

beforeAll(async () => {
  dataDir = await newDataDir()
  browser = await openChromium()
  server = await startServer(dataDir, await freePort(), {
    ...{ DOCK_EMBEDDED_HOST: 'off', DOCK_SIGNUP: 'open' },
  })
  const context = await patientContext()
  const first = await context.newPage()
  await first.goto(`${server.admin.baseUrl}/organizations`)
  await signInOn(first, server.admin)
  await first.getByRole('heading', { name: 'Organizations' }).waitFor()
  const more = await Promise.all(Array.from({ length: 7 }, () => context.newPage()))
  await Promise.all(more.map((tab) => tab.goto(first.url())))
  tabs = [first, ...more]
})
afterAll(async () => {
  await browser?.close()
  await server?.interrupt()
  await removeDataDir(dataDir)
})

const shown = (name: string) =>
  Promise.all(tabs.map((tab) => tab.getByRole('link', { name, exact: true }).waitFor()))
/** Writes into the database, which runs on while the control plane does not. */
const withDatabase = async (work: (db: ReturnType<typeof openDatabase>['db']) => Promise<unknown>) => {
  const database = openDatabase({ url: databaseOf(dataDir), maxConnections: 1 })
  await work(database.db).finally(() => database.close())
}
const rename = (name: string) =>
  withDatabase((db) => sql`update organizations set name = ${name}`.execute(db))
/** A busy machine takes long to show the first page of a server that has just started. */
const patientContext = async (): Promise<BrowserContext> => {
  const context = await browser.newContext()
  context.setDefaultTimeout(120_000)
  return context
}
const newPage = async (): Promise<Page> => (await patientContext()).newPage()

it('eight tabs catch up after the control plane was killed, without a reload', async () => {
  await rename('Before')
  await shown('Before')
  for (const tab of tabs) await tab.evaluate('window.isSamePage = true')
  const lost = tabs.map((tab) => tab.getByText('The connection to the service is lost').waitFor())
  await killApp(dataDir, 'control-plane')
  // Nobody listens now: the change is only in the database when the next process starts.
  await rename('Meanwhile')
  await Promise.all(lost)
  await shown('Meanwhile')
  await expect
    .poll(async () =>
      (
        await Promise.all(tabs.map((tab) => tab.getByText('The connection to the service is lost').count()))
      ).every((count) => count === 0),
    )
    .toBe(true)
  await rename('Afterwards')
  await shown('Afterwards')
  expect(await Promise.all(tabs.map((tab) => tab.evaluate('window.isSamePage')))).toEqual(
    tabs.map(() => true),
  )
})

/** Adds a host that reads online, and that no agent links. Returns its id. */
const addHost = async (runtime: RuntimeName, isEmulated = false): Promise<string> => {
  const id = newUuid()
  await withDatabase((db) =>
    sql`insert into hosts (id, address, credential_hash, runtime, cpu_family, kernel, boot_id, vcpu_total,
      mem_total_bytes, disk_total_bytes, max_docks, images, state, mem_available_bytes, disk_free_bytes, created_at,
      last_heartbeat_at, is_emulated)
    values (${id}, ${`host-of-${runtime}`}, ${Buffer.from(id)}, ${runtime}, 'x86_64', 'linux', 'b', 8, ${2 ** 34}, ${2 ** 37},
      200, '{debian-13}', 'online', ${2 ** 33}, ${2 ** 36}, now(), now() + interval '1 day', ${isEmulated})`.execute(
      db,
    ),
  )
  return id
}

describe('a fleet', () => {
  it('offers the runtime of a new Dock only if hosts of both are online, and not for a Template', async () => {
    const page = tabs[0]!
    const open = async (): Promise<void> => {
      const offer = page.waitForResponse(/largest-dock/)
      await page.goto(`${server.admin.baseUrl}/docks/new`)
      await (await offer).finished()
      await page.getByLabel('CPUs').waitFor()
    }
    const runtime = page.getByLabel('Runtime')
    await addHost('gvisor')
    await open()
    expect(await runtime.count()).toBe(0)
    await addHost('microvm')
    await open()
    await runtime.selectOption('microvm')
    await page.getByText('--runtime microvm').waitFor()
    await page.getByLabel('Start from').selectOption('from')
    await expect.poll(() => runtime.count()).toBe(0)
    expect(await page.getByText('--runtime').count()).toBe(0)
    await page.getByLabel('Start from').selectOption('image')
    const asked = page.waitForRequest(
      (request) => request.method() === 'POST' && /\/v1\/docks$/.test(request.url()),
    )
    await page.getByRole('button', { name: 'Create' }).click()
    expect((await asked).headers()).toMatchObject({ 'x-dock-runtime': 'microvm' })
    // No agent is linked.
    await page.getByText('no_host_capacity').waitFor()
  })

  it('warns on the page of a host that emulates its microVMs, and of no other', async () => {
    const page = tabs[0]!
    const warning = page.getByText('MicroVMs are emulated on this host.')
    await page.goto(`${server.admin.baseUrl}/hosts/${await addHost('microvm', true)}`)
    await warning.waitFor()
    await page.goto(`${server.admin.baseUrl}/hosts/${await addHost('gvisor')}`)
    await page.getByText('Docks on it').waitFor()
    expect(await warning.count()).toBe(0)
  })
})

describe('the links of mails', () => {
  it('confirm an address, or lead to where a new one is asked for', async () => {
    const page = await newPage()
    const email = 'new@example.test'
    await page.goto(`${server.admin.baseUrl}/sign-up`)
    await page.getByLabel('Your name').fill('New')
    await page.getByLabel('Email address').fill(email)
    await page.getByLabel('Password').fill('a long password')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
    const link = await mailedLink(dataDir, email, confirmationLink)
    await page.goto(link.replace(/token=[^&]+/, 'token=nonsense'))
    await page.getByText('The link of the mail works no more.').waitFor()
    // This server writes its mails into a folder.
    await page.getByText('ask the people who run it to confirm').waitFor()
    expect(await page.getByRole('button', { name: 'Send the mail again' }).count()).toBe(0)
    await page.goto(link)
    await page.getByRole('heading', { name: 'No organization yet' }).waitFor()
    expect(await page.getByText('Confirm your address').count()).toBe(0)
  })

  it('lead from an alert to its Dock, and to the end of such mails', async () => {
    const { email, organizationId } = server.admin
    const dockId = newUuid()
    await withDatabase((db) =>
      raiseAlert(db, {
        ...{ type: 'disk_full', dockId, organizationId, eventId: newUuid(), at: new Date() },
        ...{ title: 'The disk is full', body: 'Programs can no longer write.' },
      }),
    )
    const page = tabs[0]!
    await page.goto(await mailedLink(dataDir, email, new RegExp(`http://\\S+/docks/${dockId}`)))
    // Nobody has made this Dock.
    await page.getByText('dock_not_found').waitFor()
    await page.goto(await mailedLink(dataDir, email, /http:\/\/\S+\/mail\/unsubscribe\/\S+/))
    await page.getByRole('button').click()
    await page.getByText('no longer mails you').waitFor()
  })

  it('set a new password, once', async () => {
    const { email } = server.admin
    const page = await newPage()
    await page.goto(`${server.admin.baseUrl}/sign-in`)
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    // The sign-in has a field of the same name.
    await page.getByRole('heading', { name: 'Forgot your password?' }).waitFor()
    await page.getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await page.getByText('is on its way').waitFor()
    const link = await mailedLink(dataDir, email, /http:\/\/\S+\/reset-password\?token=\S+/)
    const setPassword = async (password: string) => {
      await page.goto(link)
      await page.getByLabel('New password').fill(password)
      await page.getByRole('button', { name: 'Set password' }).click()
    }
    await setPassword('another long password')
    await page.getByText('Your password is set.').waitFor()
    await page.getByRole('link', { name: 'Back to the sign-in' }).click()
    await signInOn(page, { email, password: 'another long password' })
    await page.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
    await setPassword('a third long password')
    await page.getByRole('alert').waitFor()
  })
})
