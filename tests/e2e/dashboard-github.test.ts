/**
 * The dashboard's pages of GitHub and Runs in a real browser, against the stand-in of GitHub: the App is made by its
 * manifest, repositories are linked, a mention starts a Run. The control plane has no host, so the Run waits for a machine;
 * what an agent would do is written into the database.
 */
import { newUuid } from '@dock/foundation'
import {
  type Github,
  openChromium,
  startGithub,
  startTestControlPlane,
  type TestControlPlane,
} from '@dock/testkit'
import { freePort } from '@dock/testkit/src/free-port.ts'
import { sql } from 'kysely'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { signInOn, watchComplaints } from './support/dashboard-page.ts'

const hostile = '<img src=x onerror=alert(1)>'
let github: Github
let server: TestControlPlane
let browser: Browser
let page: Page
const complaints: string[] = []

const open = (path: string) => page.goto(server.config.appUrl + path)
const button = (name: string) => page.getByRole('button', { name, exact: true })
const main = () => page.getByRole('main')

beforeAll(async () => {
  github = await startGithub()
  const port = await freePort()
  server = await startTestControlPlane({
    environment: { DOCK_PUBLIC_URL: `http://127.0.0.1:${port}`, GITHUB_URL: github.url },
  })
  await server.listen(undefined, port)
  browser = await openChromium()
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
  watchComplaints(page, complaints)
  const app = github.world.addRepository('acme/app', { ada: 'admin', ann: 'write' })
  const read = github.world.addRepository('acme/read-only', { ada: 'read' })
  github.world.install(app, read)
})
afterAll(async () => {
  await browser?.close()
  await server?.stop()
  await github?.close()
})

it('makes the App by its manifest', async () => {
  await open('/github')
  await signInOn(page, server.admin)
  await page.getByRole('heading', { name: 'Make the GitHub App' }).waitFor()
  expect(await button('Connect repositories').isDisabled()).toBe(true)
  await button('Make the App at GitHub').click()
  await page.getByText('@dock-test').waitFor()
  expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/github')
  expect(github.world.app.hookUrl).toBe(`${server.config.apiUrl}/v1/github/events`)
})

it('links repositories that the person administers, once', async () => {
  await button('Connect repositories').click()
  await page.getByRole('heading', { name: 'Choose repositories' }).waitFor()
  await page.getByRole('checkbox', { name: 'acme/app' }).check()
  expect(await page.getByRole('checkbox').count()).toBe(1)
  const spent = page.url()
  await button('Link 1 repository').click()
  await main().getByRole('link', { name: 'acme/app' }).waitFor()
  // The state of the address worked once.
  await page.goto(spent)
  await page.getByRole('alert').waitFor()
  await button('Look again').click()
  // What is linked already is read beside the choices.
  await expect.poll(() => page.getByRole('checkbox', { name: 'acme/app', disabled: true }).count()).toBe(1)
})

/** A panel may have the name of its field. */
const field = (label: string) =>
  page.locator('input, select, textarea').and(page.getByLabel(label, { exact: true }))

it('changes how Runs work', async () => {
  await open('/github')
  await main().getByRole('link', { name: 'acme/app' }).click()
  await page.getByRole('combobox', { name: 'Agent' }).selectOption('command')
  await field('Command').fill('echo done')
  await page.getByLabel('Budget in US dollars').fill('7.5')
  await page.getByLabel('Timeout in minutes').fill('45')
  await page.getByLabel('Label').fill('dock')
  await button('Save').click()
  await page.getByText('Saved').waitFor()
  await page.reload()
  await field('Command').waitFor()
  for (const [label, value] of [
    ['Agent', 'command'],
    ['Command', 'echo done'],
    ['Budget in US dollars', '7.5'],
    ['Timeout in minutes', '45'],
    ['Label', 'dock'],
  ] as const)
    expect(await field(label).inputValue()).toBe(value)
})

/** Writes what an agent of the Run would leave. */
const work = async (runId: string): Promise<void> => {
  const { db } = server.database
  const text = `working\u001b[2J ${hostile}\n`
  const bytes = Buffer.byteLength(text)
  await sql`insert into run_logs (turn_id, at_byte, text) select id, 0, ${text} from run_turns where run_id = ${runId}`.execute(
    db,
  )
  await sql`update run_turns set log_bytes = ${bytes}, cost_micro_usd = 1250000, input_tokens = 1000, output_tokens = 50
    where run_id = ${runId}`.execute(db)
  await sql`update runs set pr_number = 12, pr_url = ${`${github.url}/acme/app/pull/12`} where id = ${runId}`.execute(
    db,
  )
  await sql`insert into run_events (run_id, type, at) values (${runId}, 'pr_opened', now())`.execute(db)
}

it('shows a Run that a mention has started, live, and stops and retries it', async () => {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('heading', { name: 'No Runs yet' }).waitFor()
  const [app] = github.world.repositories
  const { issue } = await github.openIssue(app!, 'ann', { title: hostile })
  await github.comment(app!, issue.number, 'ann', '@dock-test please fix it')
  const link = main().getByRole('link', { name: `acme/app #${issue.number}` })
  await link.waitFor()
  await page.getByLabel('State').selectOption('failed')
  await page.getByRole('heading', { name: 'No Run matches' }).waitFor()
  expect(new URL(page.url()).searchParams.get('state')).toBe('failed')
  await page.getByLabel('State').selectOption('pending')
  await link.click()

  const timeline = page.getByRole('list', { name: 'Timeline' })
  await timeline.getByText('Somebody asked for it').waitFor()
  const runId = new URL(page.url()).pathname.split('/').at(-1)!
  await work(runId)
  await timeline.getByText('The draft pull request was opened').waitFor()
  await expect.poll(() => page.getByLabel('Log of turn 1').inputValue()).toBe(`working␛[2J ${hostile}\n`)
  expect(await page.getByRole('link', { name: 'the diff' }).getAttribute('href')).toBe(
    `${github.url}/acme/app/pull/12/files`,
  )
  await page.getByText('about $1.25 of $7.50').first().waitFor({ state: 'attached' })

  await button('Stop').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
  await timeline.getByText('It was stopped').waitFor()
  await button('Retry').click()
  await page.getByRole('dialog').getByLabel('Instruction').fill('Try it in another way.')
  await button('Start').click()
  await expect.poll(() => page.url()).not.toContain(runId)
  await timeline.getByText('Somebody asked for it').waitFor()
  expect(await timeline.getByRole('listitem').count()).toBe(1)
})

it.each(['/runs', '/github'])('%s says that the workspace of its address is not there', async (path) => {
  await open(`${path}?workspace=${newUuid()}`)
  await page.getByRole('heading', { name: 'There is no such workspace' }).waitFor()
})

it('does not take a service that fails for a workspace that is not there', async () => {
  const context = await browser.newContext({ storageState: await page.context().storageState() })
  const tab = await context.newPage()
  await tab.route(/\/v1\/(github\/runs|organizations)/, (route) => route.fulfill({ status: 503, body: '' }))
  await tab.goto(`${server.config.appUrl}/runs?workspace=${newUuid()}`)
  await tab.getByRole('main').getByRole('alert').first().waitFor()
  expect(await tab.getByRole('heading', { name: 'There is no such workspace' }).count()).toBe(0)
  await context.close()
})

it('breaks no rule of its content security policy, and logs no error', () => {
  expect(complaints).toEqual([])
})
