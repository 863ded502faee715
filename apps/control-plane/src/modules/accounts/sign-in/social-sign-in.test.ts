import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { client, type OauthServer, startOauthServer } from '@dock/testkit/src/oauth-server.ts'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findGrants } from './provider-grants.ts'

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
  server = await startTestControlPlane({
    environment: {
      DOCK_SIGNUP: 'open',
      GITHUB_URL: provider.url,
      GITHUB_CLIENT_ID: client.id,
      GITHUB_CLIENT_SECRET: client.secret,
      GITLAB_URL: provider.url,
      GITLAB_CLIENT_ID: client.id,
      GITLAB_CLIENT_SECRET: client.secret,
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

/** Runs the OAuth flow as a browser would. Returns the final redirect and the cookies of the last response. */
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

it('signs a new user in with GitHub, stores no token, and recognizes them the next time', async () => {
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
    grant_sealed: null,
  })
  provider.person = { ...provider.person, email: 'moved@example.test' }
  expect(await me((await through('github', 'sign-in/social')).cookie)).toEqual(first)
})

it('signs a new user in with Google through its fixed URLs', async () => {
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

it.each(['github', 'gitlab'] as const)(
  'seals an expiring token of %s for its user after the first sign-in, a later sign-in and a link',
  async (name) => {
    await start()
    provider.expiring = true
    const { db } = server.database
    const parts = { db, sealer: server.controlPlane.sealer }
    const kept = async (userId: string) =>
      (await findGrants(parts, { userId, provider: name })).map(({ grant }) => grant)
    const granted = () => [
      {
        accessToken: provider.token,
        refreshToken: `refresh-${provider.token}`,
        expiresAt: expect.stringMatching(/Z$/),
      },
    ]
    const { id: ada } = (await me((await through(name, 'sign-in/social')).cookie)) as { id: string }
    expect(await kept(ada)).toEqual(granted())
    await through(name, 'sign-in/social')
    expect(await kept(ada)).toEqual(granted())
    provider.person = { ...provider.person, id: 2, email: 'second@example.test' }
    const { cookie } = await server.signIn()
    const { id: admin } = (await me(cookie)) as { id: string }
    expect((await through(name, 'link-social', cookie)).location).toBe('/welcome')
    expect(await kept(admin)).toEqual(granted())
    for (const row of await logins()) {
      expect(row).toMatchObject({ access_token: null, refresh_token: null, access_token_expires_at: null })
      expect(row.grant_sealed ?? '').not.toContain(provider.token)
    }
    // A refused link changes no stored grant.
    const before = await kept(ada)
    provider.person = { ...provider.person, id: 1 }
    expect((await through(name, 'link-social', cookie)).location).toContain('error=')
    expect(await kept(ada)).toEqual(before)
    expect(await kept(admin)).toHaveLength(1)
  },
)

it('does not sign in to an existing account because the provider reports the same address', async () => {
  await start()
  provider.person = { ...provider.person, email: server.admin.email }
  const { location, cookie } = await through('github', 'sign-in/social')
  expect(location).toContain('/failed?error=account_not_linked')
  expect(cookie).not.toContain('session_token')
  expect(await logins()).toHaveLength(1)
})

it('links a provider to the signed-in user with any address, and to one account only', async () => {
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
  await server.database.db.updateTable('users').set({ email_verified: true }).execute()
  const other = await server.signIn('b@example.test', 'a long password')
  expect((await through('github', 'link-social', other.cookie)).location).toContain('error=')
  expect(await me(other.cookie)).toMatchObject({ providers: ['credential'] })
})

describe('refuses', () => {
  it('a code that another browser returns, or that is used twice', async () => {
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

  it('a new user whose address the provider has not verified', async () => {
    await start()
    provider.person = { ...provider.person, verified: false }
    const { location } = await through('github', 'sign-in/social')
    expect(location).toContain('/failed?error=EMAIL_NOT_VERIFIED')
    expect(await server.database.db.selectFrom('users').select('id').execute()).toHaveLength(1)
  })

  it('a provider that is not configured, and does not list it', async () => {
    await start({ GOOGLE_CLIENT_ID: '', GOOGLE_CLIENT_SECRET: '' })
    const config = await server.call('GET', '/v1/config', undefined, null)
    expect(config.body.data).toMatchObject({ authProviders: ['credential', 'github', 'gitlab'] })
    const response = await server.fetch('/api/auth/sign-in/social', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ provider: 'google' }),
    })
    expect(response.status).toBe(404)
  })
})
