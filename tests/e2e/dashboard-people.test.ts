/** The dashboard's pages of people, Environments, keys and the account, in a real browser. */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openChromium } from '@dock/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { confirm, signInOn, watchComplaints } from './support/dashboard-page.ts'
import { createDock } from './support/dock.ts'
import { confirmationLink, invitationLink, mailedLink } from './support/mailed-link.ts'
import { freshName, useServer } from './support/use-server.ts'

const server = useServer()
const hostile = '<img src=x onerror=alert(1)>'
const member = { email: `${freshName('colleague')}@example.test`, password: freshName('a long password') }
let browser: Browser
/** The first person, and the colleague who is invited. */
let page: Page
let colleague: Page
const complaints: string[] = []

const newPage = async (): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  const made = await context.newPage()
  watchComplaints(made, complaints)
  return made
}
const address = (path: string): string => server.admin.baseUrl + path
const organizationPath = (part: string): string => `/organization/${server.admin.organizationId}/${part}`
const row = (at: Page, text: string) => at.getByRole('listitem').filter({ hasText: text })
/** A link to a part of a page, not one of the navigation. */
const part = (at: Page, name: string) => at.getByRole('main').getByRole('link', { name, exact: true })
/** Returns the link that the page shows once, and closes the dialog. */
const shownLink = async (email: string): Promise<string> => {
  const dialog = page.getByRole('dialog', { name: `Link for ${email}` })
  await dialog.getByText('/invitations/').waitFor()
  const link = await dialog.locator('code').innerText()
  expect(link).toMatch(invitationLink)
  await button(page, 'Done').click()
  await dialog.waitFor({ state: 'detached' })
  return link
}
const invite = async (email: string): Promise<string> => {
  await button(page, 'Invite').click()
  await page.getByRole('dialog').getByLabel('Email address').fill(email)
  await button(page, 'Make invitation').click()
  return shownLink(email)
}
const button = (at: Page, name: string) => at.getByRole('button', { name, exact: true })

beforeAll(async () => {
  browser = await openChromium()
  page = await newPage()
  colleague = await newPage()
  await page.goto(address('/organizations'))
  await signInOn(page, server.admin)
  await page.getByRole('heading', { name: 'Organizations' }).waitFor()
})
afterAll(async () => {
  await browser.close()
})

describe('an organization', () => {
  it('has workspaces, whose names are text, and keeps the last one', async () => {
    await page.goto(address(organizationPath('workspaces')))
    await page.getByRole('list', { name: 'Workspaces' }).waitFor()
    await expect.poll(() => button(page, 'Delete').first().isDisabled()).toBe(true)
    const name = `${freshName('team')} ${hostile}`
    await button(page, 'New workspace').click()
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await button(page, 'Make workspace').click()
    await row(page, name).getByRole('button', { name: 'Delete' }).click()
    await confirm(page, name, 'Delete')
    await expect.poll(() => row(page, name).count()).toBe(0)
  })

  it('shows usage beside limits, and what retention would delete', async () => {
    await part(page, 'Usage and limits').click()
    await page.getByRole('meter', { name: 'Docks that are on' }).waitFor({ state: 'attached' })
    await part(page, 'Retention').click()
    await button(page, 'Turn zero data retention on').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This cannot be undone').waitFor()
    expect(await button(page, 'Delete and turn on').isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })

  it('is made with a hostile name, switched to, and deleted by its name', async () => {
    const name = `${freshName('org')} ${hostile}`
    await page.goto(address('/organizations'))
    await button(page, 'New organization').click()
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await button(page, 'Make organization').click()
    await page.getByRole('heading', { name }).waitFor()
    await page.getByLabel('Organization', { exact: true }).selectOption(server.admin.organizationId)
    await page.waitForURL(`**${organizationPath('members')}`)
    await page.getByLabel('Organization', { exact: true }).selectOption({ label: name })
    await page.getByRole('heading', { name }).waitFor()
    await part(page, 'Settings').click()
    await button(page, 'Delete organization').click()
    await confirm(page, name, 'Delete organization')
    await page.getByRole('heading', { name: 'Organizations' }).waitFor()
    await expect.poll(() => row(page, name).count()).toBe(0)
  })
})

describe('an invitation', () => {
  it('is sent, leads a new person to join, and on to the first Dock', async () => {
    await page.goto(address(organizationPath('members')))
    await button(page, 'Invite').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('This server sends no mail.').waitFor()
    await dialog.getByLabel('Email address').fill(member.email)
    await button(page, 'Make invitation').click()
    const link = await shownLink(member.email)
    await row(page, member.email).getByRole('button', { name: 'Withdraw' }).waitFor()
    expect(await button(page, 'Send again').count()).toBe(0)

    await colleague.goto(link)
    // Before the sign-in, the page says who invites and to what.
    await colleague.getByText(/ invites you\. Join .+ as member\./).waitFor()
    await colleague.getByRole('link', { name: 'Create an account' }).click()
    await colleague.getByLabel('Your name').fill(`Colleague ${hostile}`)
    await colleague.getByLabel('Email address').fill(member.email)
    await colleague.getByLabel('Password').fill(member.password)
    await button(colleague, 'Create account').click()
    await colleague.getByText('Confirm your address.').waitFor()
    await colleague.getByText('This server sends no mail').waitFor()
    expect(await button(colleague, 'Send the mail again').count()).toBe(0)

    // The operator finds the mail with the link in the outbox of this server. The link of the other mail is opened in another tab, which shows the invitation; this one goes on by itself.
    const tab = await colleague.context().newPage()
    await tab.goto(await mailedLink(server.dataDir, member.email, confirmationLink))
    await tab.getByRole('heading', { name: 'You are invited' }).waitFor()
    await tab.close()
    await button(colleague, 'Join').click()
    await colleague.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
    await button(colleague, 'New Dock').click()
    const screen = colleague.locator('.xterm-rows')
    await screen.waitFor()
    await expect.poll(() => screen.innerText()).toMatch(/\$\s*$/)
    // Nobody has reloaded the page of members.
    await expect.poll(() => button(page, 'Withdraw').count()).toBe(0)
    await row(page, member.email).getByRole('button', { name: 'Remove' }).waitFor()
  })

  it('is handed over by a fresh link, and withdrawn', async () => {
    const email = `${freshName('guest')}@example.test`
    const first = await invite(email)
    await row(page, email).getByRole('button', { name: 'Get link' }).click()
    expect(await shownLink(email)).not.toBe(first)
    await row(page, email).getByRole('button', { name: 'Withdraw' }).click()
    await expect.poll(() => row(page, email).count()).toBe(0)
  })

  it('is accepted with its link alone, once an instance admin has vouched for the address', async () => {
    const email = `${freshName('unmailed')}@example.test`
    const link = await invite(email)
    const guest = await newPage()
    await guest.goto(link)
    await guest.getByRole('link', { name: 'Create an account' }).click()
    await guest.getByLabel('Your name').fill(`Guest ${hostile}`)
    await guest.getByLabel('Email address').fill(email)
    await guest.getByLabel('Password').fill(member.password)
    await button(guest, 'Create account').click()
    await guest.getByText('Confirm your address.').waitFor()
    expect(await button(guest, 'Join').count()).toBe(0)

    await page.goto(address('/plans'))
    const waiting = row(page, email)
    await waiting.getByText(`Calls themselves Guest ${hostile}`).waitFor()
    await waiting.getByRole('button', { name: `Vouch for ${email}` }).click()
    await expect.poll(() => waiting.count()).toBe(0)

    // The page of the guest goes on by itself.
    await button(guest, 'Join').click()
    await guest.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
    await page.goto(address(organizationPath('members')))
    await row(page, email).getByRole('button', { name: 'Remove' }).click()
    await confirm(page, email, 'Remove')
    await expect.poll(() => row(page, email).count()).toBe(0)
    await guest.context().close()
  })

  it('makes a member, who sees no action of admins and can leave', async () => {
    await colleague.goto(address(organizationPath('members')))
    await button(colleague, 'Leave').waitFor()
    expect(await button(colleague, 'Invite').count()).toBe(0)
    expect(await button(colleague, 'Remove').count()).toBe(0)
    await page.getByLabel(`Role of ${member.email}`).selectOption('admin')
    await button(colleague, 'Invite').waitFor()
    await page.getByLabel(`Role of ${member.email}`).selectOption('member')
    await expect.poll(() => button(colleague, 'Invite').count()).toBe(0)
  })
})

describe('an Environment', () => {
  const name = freshName('secrets')
  const secret = `canary ${freshName('value')} ${hostile}`

  it('holds a secret that admins see for a moment, and in no address', async () => {
    await page.goto(address('/environments'))
    await button(page, 'New Environment').click()
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await button(page, 'Make Environment').click()
    await page.getByRole('heading', { name }).waitFor()
    await button(page, 'Add variable').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('API_TOKEN')
    await dialog.getByLabel('Value').fill(secret)
    await button(page, 'Save').click()
    await page.getByText('API_TOKEN').waitFor()
    expect(await page.content()).not.toContain('canary')
    await button(page, 'Reveal values').click()
    await page.getByText(secret).waitFor()
    expect(page.url()).not.toContain('canary')
    await button(page, 'Hide values').click()
    await expect.poll(() => page.getByText(secret).count()).toBe(0)
  })

  it('is edited as text, unless somebody else has changed it since', async () => {
    const ref = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await button(page, 'Edit as text').click()
    const dialog = page.getByRole('dialog')
    const text = dialog.getByLabel('Variables')
    await text.waitFor()
    expect(await text.inputValue()).toContain('API_TOKEN=')
    const body = { key: 'FROM_ELSEWHERE', value: '1' }
    await server.client.call('setEnvironmentVariable', { params: { ref }, body })
    await text.fill('LOST=1')
    await button(page, 'Save').click()
    await dialog.getByText('Somebody else has changed this Environment').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('FROM_ELSEWHERE').waitFor()
    await button(page, 'Edit as text').click()
    await text.fill(`${await text.inputValue()}PASTED="two words"\n`)
    await button(page, 'Save').click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('PASTED').waitFor()
    expect((await server.client.call('readEnvironment', { params: { ref } })).varNames).toHaveLength(3)
  })

  it('shows a member the name of the secret, and nothing with which to see it', async () => {
    await colleague.goto(page.url())
    await colleague.getByText('API_TOKEN').waitFor()
    for (const each of ['Reveal values', 'Edit as text', 'Add variable'])
      expect(await button(colleague, each).count()).toBe(0)
    const id = new URL(page.url()).pathname.split('/').at(-1)
    const refused = await colleague.request.post(address(`/v1/environments/${id}/secrets:reveal`), {
      headers: { origin: server.admin.baseUrl },
    })
    expect(refused.status()).toBe(403)
    expect((await refused.text()) + (await colleague.content())).not.toContain('canary')
    await part(colleague, 'What Docks get').click()
    expect(await colleague.getByRole('switch').first().isDisabled()).toBe(true)
  })

  it('says what versions changed, and upgrades its Docks', async () => {
    await createDock(server, { name: freshName('old'), environment: name })
    await part(page, 'What Docks get').click()
    await page.getByRole('switch', { name: 'An API key of Dock' }).click()
    await part(page, 'Versions and Docks').click()
    await page.getByText('~ An API key of Dock: on').waitFor()
    await page.getByText('+ variable API_TOKEN').waitFor()
    await button(page, 'Upgrade 1 Dock').click()
    await page.getByText('The upgrade is done.').waitFor()
    await row(page, 'Made by').getByText('version 5').waitFor()
  })
})

describe('keys', () => {
  it('of the API are shown once, work, and are revoked', async () => {
    const name = `${freshName('key')} ${hostile}`
    await page.goto(address('/keys'))
    await button(page, 'New API key').click()
    await page.getByRole('dialog').getByLabel('Name').fill(name)
    await button(page, 'Make key').click()
    await button(page, 'I have copied it').waitFor()
    const key = await page.getByRole('dialog').locator('code').innerText()
    const ask = () =>
      fetch(address('/v1/me'), { headers: { authorization: `Bearer ${key}` } }).then(({ status }) => status)
    expect(await ask()).toBe(200)
    await button(page, 'I have copied it').click()
    await row(page, name).waitFor()
    expect(await page.content()).not.toContain(key)
    await row(page, name).getByRole('button', { name: 'Revoke' }).click()
    await confirm(page, name, 'Revoke')
    await row(page, name).getByText('revoked').waitFor()
    expect(await ask()).toBe(401)
  })

  it('of SSH show the service’s sentence and the request id if they are refused', async () => {
    await part(page, 'SSH keys').click()
    await button(page, 'Add SSH key').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('laptop')
    await dialog.getByLabel('Public key').fill('nonsense')
    await button(page, 'Add key').click()
    await dialog.getByText(/validation_error · request [0-9a-f-]{36}/).waitFor()
    await page.keyboard.press('Escape')
  })

  it('of SSH are proved with the command that the page shows', async () => {
    const [name, folder] = [freshName('laptop'), await mkdtemp(join(tmpdir(), 'dock-page-key-'))]
    const file = join(folder, 'id_ed25519')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file])
    await button(page, 'Add SSH key').click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Public key').fill(await readFile(`${file}.pub`, 'utf8'))
    await button(page, 'Add key').click()
    await page.getByRole('dialog', { name: `Prove ${name}` }).waitFor()
    const command = (await dialog.locator('code', { hasText: 'ssh-keygen' }).innerText()).replace(
      ...(['~/.ssh/id_ed25519', file] as const),
    )
    const signature = execFileSync('sh', ['-c', command], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    await rm(folder, { recursive: true })
    await dialog.getByLabel('Signature').fill(signature.toString())
    await button(page, 'Prove key').click()
    await row(page, name).getByText('proved', { exact: true }).waitFor()
    await row(page, name).getByRole('button', { name: 'Delete' }).click()
    await confirm(page, name, 'Delete')
    await expect.poll(() => row(page, name).count()).toBe(0)
  })

  it('of providers are set, revealed and deleted by admins only', async () => {
    const key = freshName('sk-canary')
    await part(page, 'Provider keys').click()
    await button(page, 'Set the key of OpenRouter').click()
    await page.getByRole('dialog').getByLabel('Key', { exact: true }).fill(key)
    await button(page, 'Save').click()
    await button(page, 'Reveal the key of OpenRouter').click()
    await page.getByText(key).waitFor()
    await colleague.goto(address('/keys?tab=providers'))
    await row(colleague, 'OpenRouter').getByText('set', { exact: true }).waitFor()
    expect(await colleague.getByRole('button', { name: /the key of/ }).count()).toBe(0)
    await button(page, 'Delete the key of OpenRouter').click()
    await confirm(page, 'OpenRouter', 'Delete')
    await expect.poll(() => button(page, 'Reveal the key of OpenRouter').count()).toBe(0)
  })
})

describe('an account', () => {
  it('is closed, and reopened after the sign-in', async () => {
    await colleague.goto(address('/account'))
    await colleague.getByLabel('Name', { exact: true }).waitFor()
    expect(await colleague.getByLabel('Name', { exact: true }).inputValue()).toBe(`Colleague ${hostile}`)
    await colleague.getByText('this one').waitFor()
    await button(colleague, 'Close account').click()
    const dialog = colleague.getByRole('dialog')
    await dialog.getByLabel(/^Type /).fill(member.email)
    await dialog.getByRole('button', { name: 'Close account' }).click()
    await colleague.getByRole('heading', { name: 'Sign in to Dock' }).waitFor()
    await signInOn(colleague, member)
    await colleague.getByRole('heading', { name: 'Your account is closed' }).waitFor()
    await button(colleague, 'Reopen account').click()
    await colleague.getByRole('heading', { name: 'Docks', exact: true }).waitFor()
  })

  it('is erased by the phrase, and then nobody can sign in to it', async () => {
    await colleague.goto(address('/account'))
    await button(colleague, 'Erase account').click()
    const dialog = colleague.getByRole('dialog')
    await dialog.getByLabel(/^Type /).fill('erase my account data')
    await dialog.getByRole('button', { name: 'Erase everything' }).click()
    await colleague.getByRole('heading', { name: 'Sign in to Dock' }).waitFor()
    await signInOn(colleague, member)
    await colleague.getByRole('alert').waitFor()
    await page.goto(address(organizationPath('members')))
    await page.getByRole('list', { name: 'Members' }).waitFor()
    await expect.poll(() => row(page, member.email).count()).toBe(0)
  })
})

describe('all these pages', () => {
  it('break no rule of the content security policy, and log no error', () => {
    expect(complaints).toEqual([])
  })
})
