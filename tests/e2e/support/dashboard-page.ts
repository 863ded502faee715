/** Pages of the dashboard in a real browser, for tests. */
import type { Page } from 'playwright-core'

/**
 * What the service refuses is shown to the person, and Chromium logs it too. It drops requests that wait for a connection
 * when a link or an address of its machine changes, as with every Dock; the page then asks again, or loads itself again if
 * a part of its code was lost.
 */
const expected =
  /(status of|response code:) 4\d\d|ERR_NETWORK_CHANGED|Failed to fetch dynamically imported module/

/** Records errors of the console, and reports of the content security policy. */
export function watchComplaints(page: Page, complaints: string[]): void {
  const note = (text: string): void => {
    if (!expected.test(text)) complaints.push(text)
  }
  page.on('console', (message) => {
    if (message.type() === 'error') note(message.text())
  })
  page.on('pageerror', (error) => note(error.message))
}

const clicksMax = 10

/**
 * Signs in on the page that asks for it. Returns once the page is left, or shows a refusal. If the connection broke, it
 * clicks again, as a person would.
 */
export async function signInOn(page: Page, { email, password }: { email: string; password: string }) {
  await page.getByLabel('Email address').fill(email)
  await page.getByLabel('Password').fill(password)
  const button = page.getByRole('button', { name: 'Sign in' })
  const alert = page.getByRole('alert')
  for (let click = 1; click <= clicksMax; click++) {
    await button.click()
    const isLeft = await Promise.race([
      button.waitFor({ state: 'detached' }).then(() => true),
      alert.waitFor().then(() => false),
    ])
    if (isLeft || !(await alert.textContent())?.includes('The connection to the service broke')) return
  }
}

/** Types the name that a dialog asks for, and confirms. */
export async function confirm(page: Page, name: string, action: string): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel(/^Type /).fill(name)
  await dialog.getByRole('button', { name: action, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
}
