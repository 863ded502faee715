/** The pages of the sign-in of a machine in a real browser, with a policy that the browser enforces. */
import type { DeviceCode, DeviceCodeProgress } from '@dock/contract'
import { openChromium, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

let server: TestControlPlane
let browser: Awaited<ReturnType<typeof openChromium>>
let address: string
beforeAll(async () => {
  server = await startTestControlPlane()
  address = `http://127.0.0.1:${(await server.listen()).port}`
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  await server.stop()
})

const post = async <Data>(path: string, body: object): Promise<{ status: number; data: Data }> => {
  const answer = await server.call('POST', path, body, null)
  return { status: answer.status, data: answer.body.data as Data }
}
const poll = (deviceCode: string) => post<DeviceCodeProgress>('/v1/device/token', { deviceCode })

it.each([true, false])(
  'a person signs in and approves, with scripts of pages allowed: %s',
  async (javaScriptEnabled) => {
    const { data: code } = await post<DeviceCode>('/v1/device/code', { machineName: 'Ada’s laptop\u202e' })
    const context = await browser.newContext({ javaScriptEnabled })
    const page = await context.newPage()
    const complaints: string[] = []
    const requests: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => requests.push(request.url()))
    await page.goto(`${address}/device?code=${code.userCode}`)
    await page.getByLabel('Email').fill(server.admin.email)
    await page.getByLabel('Password').fill(server.admin.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Let this machine act as you?' }).waitFor()
    const text = await page.locator('main').innerText()
    for (const shown of [code.userCode, 'Ada’s laptop', server.admin.email]) expect(text).toContain(shown)
    // The style applies, so the policy admits it.
    expect(await page.evaluate('getComputedStyle(document.querySelector(".code")).fontWeight')).toBe('600')
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    const { data } = await poll(code.deviceCode)
    expect(data).toMatchObject({ state: 'approved', name: 'Ada’s laptop' })
    expect(complaints).toEqual([])
    expect(requests.filter((url) => !url.startsWith(`${address}/device`))).toEqual([])
    await context.close()
  },
)

it('a person types the code, denies it, and signs out', async () => {
  const { data: code } = await post<DeviceCode>('/v1/device/code', { machineName: 'unknown machine' })
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(`${address}/device`)
  await page.getByLabel('Email').fill(server.admin.email)
  await page.getByLabel('Password').fill('a wrong password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  expect(await page.getByRole('alert').innerText()).toContain('wrong')
  await page.getByLabel('Email').fill(server.admin.email)
  await page.getByLabel('Password').fill(server.admin.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByLabel('Code that the machine shows').fill(code.userCode.toLowerCase().replace('-', ''))
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Deny' }).click()
  await page.getByRole('heading', { name: 'Denied' }).waitFor()
  expect((await poll(code.deviceCode)).status).toBe(403)
  await page.goto(`${address}/device`)
  await page.getByRole('button', { name: 'Use another account' }).click()
  await page.getByRole('heading', { name: 'Sign in to Dock' }).waitFor()
  // The device stays known. The cookie opens nothing.
  expect((await context.cookies()).map(({ name }) => name)).toEqual(['dock.device'])
  await context.close()
})

it('a page of another origin can neither frame the page nor send its form', async () => {
  const { data: code } = await post<DeviceCode>('/v1/device/code', { machineName: 'm' })
  const context = await browser.newContext()
  const { cookie } = await server.signIn()
  const cookies = cookie.split('; ').map((pair) => pair.split('=', 2) as [string, string])
  await context.addCookies(cookies.map(([name, value]) => ({ name, value, url: address })))
  const page = await context.newPage()
  await page.route('http://evil.test/', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<iframe src="${address}/device?code=${code.userCode}"></iframe>
<form method="post" action="${address}/device"><input name="code" value="${code.userCode}"><button name="action" value="approve">Win</button></form>`,
    }),
  )
  await page.goto('http://evil.test/')
  const framed = page.frames()[1]
  expect(await framed?.content()).not.toContain('Sign in to Dock')
  await page.getByRole('button', { name: 'Win' }).click()
  await page.getByRole('heading', { name: 'This did not work' }).waitFor()
  expect((await poll(code.deviceCode)).data).toMatchObject({ state: 'pending' })
  await context.close()
})
