import { type TestControlPlane, testControlPlane } from '@dock/testkit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { client, type OauthServer, startOauthServer } from './test-oauth-server.ts'

let server: TestControlPlane
let provider: OauthServer
beforeEach(async () => {
  provider = await startOauthServer()
})
afterEach(async () => {
  vi.restoreAllMocks()
  await server.stop()
  await provider.close()
})
const start = async (environment: Record<string, string> = {}): Promise<void> => {
  server = await testControlPlane({
    environment: {
      DOCK_SIGNUP: 'open',
      GITHUB_URL: provider.url,
      GITHUB_CLIENT_ID: client.id,
      GITHUB_CLIENT_SECRET: client.secret,
      GOOGLE_CLIENT_ID: client.id,
      GOOGLE_CLIENT_SECRET: client.secret,
      ...environment,
    },
  })
}

const cookiesOf = (response: Response): string =>
  response.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')

/** A browser's whole way through a provider; answers where it ends, and the cookies of the last answer. */
const through = async (name: string, way: 'sign-in/social' | 'link-social', cookie = '') => {
  const begun = await server.fetch(`/api/auth/${way}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.config.apiUrl, cookie },
    body: JSON.stringify({ provider: name, callbackURL: '/welcome', errorCallbackURL: '/failed' }),
  })
  expect(begun.status).toBe(200)
  const { url } = (await begun.json()) as { url: string }
  const back = new URL(provider.agree(url))
  expect(back.href).toContain(`${server.config.apiUrl}/api/auth/callback/${name}?`)
  const ended = await server.fetch(back.pathname + back.search, {
    headers: { cookie: [cookie, cookiesOf(begun)].filter(Boolean).join('; ') },
    redirect: 'manual',
  })
  return {
    location: ended.headers.get('location') ?? '',
    cookie: cookiesOf(ended),
    back,
    status: ended.status,
  }
}
const me = async (cookie: string) => {
  const response = await server.fetch('/v1/me', { headers: { cookie } })
  return ((await response.json()) as { data: unknown }).data
}
const logins = () => server.database.db.selectFrom('login_accounts').selectAll().execute()

it('signs a new person in with GitHub, keeps no token, and knows them the next time', async () => {
  await start()
  const { cookie, location } = await through('github', 'sign-in/social')
  expect(location).toBe('/welcome')
  const first = await me(cookie)
  expect(first).toMatchObject({ email: 'ada@example.test', emailVerified: true, providers: ['github'] })
  const [login] = (await logins()).filter((each) => each.provider_id === 'github')
  expect(login).toMatchObject({
    account_id: '1',
    access_token: null,
    refresh_token: null,
    id_token: null,
    password: null,
  })
  provider.person = { ...provider.person, email: 'moved@example.test' }
  expect(await me((await through('github', 'sign-in/social')).cookie)).toEqual(first)
})

it('signs a new person in with Google at its own addresses', async () => {
  await start()
  const original = globalThis.fetch
  const asked: string[] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation((input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    asked.push(url.origin + url.pathname)
    const local = new URL(url.pathname, provider.url)
    return original(input instanceof Request ? new Request(local, input) : local, init)
  })
  const { cookie } = await through('google', 'sign-in/social')
  expect(await me(cookie)).toMatchObject({ email: 'ada@example.test', providers: ['google'] })
  expect(asked).toEqual([
    'https://oauth2.googleapis.com/token',
    'https://openidconnect.googleapis.com/v1/userinfo',
  ])
})

it('opens nobody’s account because a provider vouches for the address', async () => {
  await start()
  provider.person = { ...provider.person, email: server.admin.email }
  const { location, cookie } = await through('github', 'sign-in/social')
  expect(location).toContain('/failed?error=account_not_linked')
  expect(cookie).not.toContain('session_token')
  expect(await logins()).toHaveLength(1)
})

it('links a provider to who is signed in, whatever its address, but to nobody else', async () => {
  await start({ DOCK_SIGNUP: 'open' })
  const { cookie } = await server.signIn()
  expect((await through('github', 'link-social', cookie)).location).toBe('/welcome')
  expect(await me(cookie)).toMatchObject({ email: server.admin.email, providers: ['credential', 'github'] })
  expect(await me((await through('github', 'sign-in/social')).cookie)).toMatchObject({
    email: server.admin.email,
  })
  await server.fetch('/api/auth/sign-up/email', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'b@example.test', password: 'a long password', name: 'B' }),
  })
  const other = await server.signIn('b@example.test', 'a long password')
  expect((await through('github', 'link-social', other.cookie)).location).toContain('error=')
  expect(await me(other.cookie)).toMatchObject({ providers: ['credential'] })
})

describe('refuses', () => {
  it('a code that comes back to another browser, or a second time', async () => {
    await start()
    const { back, cookie } = await through('github', 'sign-in/social')
    const again = await server.fetch(back.pathname + back.search, { headers: { cookie }, redirect: 'manual' })
    expect(again.headers.get('location')).toContain('error=')
    expect(cookiesOf(again)).not.toContain('session_token')
    expect(await server.database.db.selectFrom('sessions').selectAll().execute()).toHaveLength(1)
  })

  it.each([
    ['invite', 'SIGN_UP_BY_INVITATION'],
    ['closed', 'SIGN_UP_CLOSED'],
  ])('a stranger where sign-up is %s', async (policy, error) => {
    await start({ DOCK_SIGNUP: policy })
    const { location } = await through('github', 'sign-in/social')
    expect(location).toContain(`/failed?error=${error}`)
    expect(await server.database.db.selectFrom('users').select('id').execute()).toHaveLength(1)
  })

  it('a new person whose address the provider has not verified', async () => {
    await start()
    provider.person = { ...provider.person, verified: false }
    const { location } = await through('github', 'sign-in/social')
    expect(location).toContain('/failed?error=EMAIL_NOT_VERIFIED')
    expect(await server.database.db.selectFrom('users').select('id').execute()).toHaveLength(1)
  })

  it('a provider that is not configured, which the instance does not offer', async () => {
    await start({ GOOGLE_CLIENT_ID: '', GOOGLE_CLIENT_SECRET: '' })
    const config = await server.call('GET', '/v1/config', undefined, null)
    expect(config.body.data).toMatchObject({ authProviders: ['credential', 'github'] })
    const response = await server.fetch('/api/auth/sign-in/social', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'google' }),
    })
    expect(response.status).toBe(404)
  })
})
