/** A real browser for tests: Debian's Chromium without windows, which script/install/chromium installs. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const program = '/usr/bin/chromium-headless-shell'

/** The variables of the environment that Chromium needs. It gets no setting and no secret of the test's process. */
const environment = (home: string): Record<string, string> => ({ PATH: '/usr/bin:/bin', HOME: home })

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
  const close = browser.close.bind(browser)
  browser.close = async (options) => {
    await close(options)
    await remove()
  }
  return browser
}
