import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { openChromium } from './open-chromium.ts'

it('opens a page, runs its script, and sends its form', async () => {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(
      request.method === 'POST'
        ? '<h1>Sent</h1>'
        : '<h1>Asked</h1><form method="post"><button>Send</button></form><script>document.title = String(6 * 7)</script>',
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const browser = await openChromium()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(await page.title()).toBe('42')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('heading', { name: 'Sent' }).waitFor()
})
