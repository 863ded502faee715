/** A real browser for tests: Debian's Chromium without windows, which script/install/chromium installs. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'

const program = '/usr/bin/chromium-headless-shell'

/** The variables of the environment that Chromium needs. It gets no setting and no secret of the test's process. */
const environment = (home: string): Record<string, string> => ({ PATH: '/usr/bin:/bin', HOME: home })

const navigationsMax = 10

/**
 * True if the machine's network changed during the navigation. Chromium then shows its error page and loads the page again
 * by itself, so Playwright may report either of the two as the navigation that interrupted this one.
 */
const isNetworkChange = (error: unknown): boolean => {
  const text = String(error)
  const [, wanted, instead] =
    /Navigation to "(.*)" is interrupted by another navigation to "(.*)"/.exec(text) ?? []
  return (
    text.includes('ERR_NETWORK_CHANGED') ||
    (instead !== undefined && (instead.startsWith('chrome-error:') || instead === wanted))
  )
}

/**
 * Chromium ends a navigation in progress when a link or an address of its machine changes, which happens with each Dock
 * that starts. A person would load the page again, once the browser's own attempt to do so is over.
 */
const navigateThroughChanges = <Args extends unknown[], Result>(
  page: Page,
  navigate: (...args: Args) => Promise<Result>,
): ((...args: Args) => Promise<Result>) => {
  const attempt = async (left: number, args: Args): Promise<Result> => {
    try {
      return await navigate(...args)
    } catch (error) {
      if (left === 1 || !isNetworkChange(error)) throw error
      await page.waitForLoadState().catch(() => undefined)
      return attempt(left - 1, args)
    }
  }
  return (...args) => attempt(navigationsMax, args)
}

const steady = (context: BrowserContext): BrowserContext => {
  context.on('page', (page: Page) => {
    page.goto = navigateThroughChanges(page, page.goto.bind(page))
    page.reload = navigateThroughChanges(page, page.reload.bind(page))
  })
  return context
}

/**
 * Starts Chromium. Its own sandbox is off, because it does not work as root; so tests open only pages of their own.
 * `close()` of the browser ends it and removes its folder; call it in `afterAll` or `onTestFinished`.
 */
export async function openChromium(): Promise<Browser> {
  const home = await mkdtemp(join(tmpdir(), 'chromium-'))
  const remove = (): Promise<void> => rm(home, { recursive: true, force: true, maxRetries: 5 })
  const browser = await chromium
    .launch({
      executablePath: program,
      args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
      env: environment(home),
      artifactsDir: home,
    })
    .catch(async (error: unknown) => {
      await remove()
      throw new Error('Chromium did not start. script/install/chromium installs it.', { cause: error })
    })
  const newContext = browser.newContext.bind(browser)
  browser.newContext = async (options) => steady(await newContext(options))
  const close = browser.close.bind(browser)
  browser.close = async (options) => {
    await close(options)
    await remove()
  }
  return browser
}
