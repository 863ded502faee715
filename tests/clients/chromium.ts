/** The TypeScript SDK in a page of a real browser, with the session of a person who signed in. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openChromium } from '@dock/testkit/src/open-chromium.ts'
import { buildForClients } from './built-sdk.ts'
import type { ScenarioRun } from './program.ts'
import type { Scenario } from './typescript.ts'

/** Serves the built files below the service's own address, so that the session's cookie is sent. */
const testFolder = '/sdk-test/'

/** Signs in and does the scenario. */
export async function chromium(run: ScenarioRun): Promise<unknown> {
  const { baseUrl, email, password, name } = run
  const { folder } = await buildForClients(join(run.home, 'sdk'))
  const scenario = JSON.parse(await readFile(run.scenario, 'utf8')) as Scenario
  const browser = await openChromium()
  try {
    const page = await browser.newPage()
    await page.route(`${baseUrl}${testFolder}**`, async (route) => {
      const file = new URL(route.request().url()).pathname.slice(testFolder.length)
      if (file === '') return route.fulfill({ contentType: 'text/html', body: '<!doctype html>' })
      await route.fulfill({ contentType: 'text/javascript', path: join(folder, file) })
    })
    await page.goto(baseUrl + testFolder)
    const status = await page.evaluate(
      async (person) =>
        (
          await fetch('/api/auth/sign-in/email', {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify(person),
          })
        ).status,
      { email, password },
    )
    if (status !== 200) throw new Error(`the sign-in returned ${status}`)
    const given = JSON.stringify({ name, scenario })
    // As text, because the test runner changes the imports of functions.
    return await page.evaluate(`import('${testFolder}page.js').then(({ runInPage }) => runInPage(${given}))`)
  } finally {
    await browser.close()
  }
}
