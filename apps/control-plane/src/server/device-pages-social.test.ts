/** Signing in with a provider on the page that approves a machine, in a real browser with a provider that is played. */
import { connect, createServer, type Server } from 'node:net'
import type { DeviceCode, DeviceCodeProgress } from '@dock/contract'
import { openChromium, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { client, type OauthServer, startOauthServer } from '@dock/testkit/src/oauth-server.ts'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'

let server: TestControlPlane
let provider: OauthServer
let browser: Awaited<ReturnType<typeof openChromium>>
/** Providers lead back to the public address, which must be known before the control plane starts. */
let listener: Server
let address: string
beforeAll(async () => {
  let port = 0
  listener = createServer((socket) => {
    const inner = connect(port, '127.0.0.1')
    socket.pipe(inner).pipe(socket)
    for (const each of [socket, inner]) each.on('error', () => socket.destroy())
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => listener.once('listening', resolve))
  address = `http://127.0.0.1:${(listener.address() as { port: number }).port}`
  provider = await startOauthServer()
  const credentials = (name: string) => ({
    [`${name}_URL`]: provider.url,
    [`${name}_CLIENT_ID`]: client.id,
    [`${name}_CLIENT_SECRET`]: client.secret,
  })
  server = await startTestControlPlane({
    environment: {
      DOCK_SIGNUP: 'open',
      DOCK_PUBLIC_URL: address,
      ...credentials('GITHUB'),
      ...credentials('GITLAB'),
    },
  })
  ;({ port } = await server.listen())
  browser = await openChromium()
})
afterAll(async () => {
  await browser?.close()
  await server.stop()
  await provider.close()
  listener.close()
})

const post = async <Data>(path: string, body: object): Promise<Data> =>
  (await server.call('POST', path, body, null)).body.data as Data

/** Opens the page of a new code in a new browser, up to the provider's page. */
const toProvider = async (name: string, back: (asked: string) => string) => {
  const code = await post<DeviceCode>('/v1/device/code', { machineName: 'laptop' })
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  await page.route(`${provider.url}/**`, (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: `<a href="${back(route.request().url()).replaceAll('&', '&amp;')}">Agree</a>`,
    }),
  )
  await page.goto(`${address}/device?code=${code.userCode}`)
  await page.getByRole('button', { name: `Continue with ${name}` }).click()
  await page.getByRole('link', { name: `Continue to ${name}` }).click()
  await page.getByRole('link', { name: 'Agree' }).click()
  return { code, page }
}

it.each(['github', 'gitlab'])(
  'a person signs in with %s, sees the machine, and approves it',
  async (name) => {
    provider.person = { id: name.length, name: 'Ada', email: `${name}@example.test`, verified: true }
    const { code, page } = await toProvider(name, (asked) => provider.agree(asked))
    await page.getByRole('heading', { name: 'Let this machine act as you?' }).waitFor()
    const text = await page.locator('main').innerText()
    for (const shown of [code.userCode, 'laptop', `${name}@example.test`]) expect(text).toContain(shown)
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    const progress = await post<DeviceCodeProgress>('/v1/device/token', { deviceCode: code.deviceCode })
    expect(progress).toMatchObject({ state: 'approved', name: 'laptop' })
  },
)

it('a person whom the provider refuses is back on the page, with the code', async () => {
  const refusal = (asked: string): string => {
    const { searchParams } = new URL(asked)
    const state = searchParams.get('state') ?? ''
    return `${searchParams.get('redirect_uri')}?${new URLSearchParams({ error: 'access_denied', state })}`
  }
  const { code, page } = await toProvider('github', refusal)
  await page.getByRole('heading', { name: 'Sign in to Dock' }).waitFor()
  expect(await page.getByRole('alert').innerText()).toContain('did not sign you in')
  expect(new URL(page.url()).searchParams.get('code')).toBe(code.userCode)
})

it('offers no provider that is not configured', async () => {
  const page = await browser.newPage()
  onTestFinished(() => page.close())
  await page.goto(`${address}/device`)
  expect(await page.getByRole('button', { name: /Continue with/ }).allInnerTexts()).toEqual([
    'Continue with GitHub',
    'Continue with GitLab',
  ])
})
