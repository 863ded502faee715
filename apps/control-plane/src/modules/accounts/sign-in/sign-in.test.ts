import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { rateLimits } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import { insertApiKey } from '../../keys/index.ts'
import { claimAddress } from './claim-address.ts'

let server: TestControlPlane
afterEach(() => server.stop())
const start = async (environment: Record<string, string> = {}): Promise<void> => {
  server = await startTestControlPlane({ environment })
}

type Reply = { status: number; body: { code?: string; ok?: boolean; message?: string }; headers: Headers }
const post = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> => {
  const response = await server.fetch(`/api/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: server.config.apiUrl, ...headers },
    body: JSON.stringify(body),
  })
  return {
    status: response.status,
    body: (await response.json()) as Reply['body'],
    headers: response.headers,
  }
}
const signUp = (email: string, more: object = {}) =>
  post('/sign-up/email', { email, password: 'a long password', name: ' A Person ', ...more })
const cookieOf = ({ headers }: { headers: Headers }): string =>
  headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
const wrong = (email: string) => post('/sign-in/email', { email, password: 'wrong password' })
const mailTo = (recipient: string) =>
  server.database.db.selectFrom('outbox_mails').select('subject').where('recipient', '=', recipient).execute()
/** Requires a stopped mailer: sending a mail deletes its link. */
const linkIn = async (recipient: string): Promise<string> => {
  const { link } = await server.database.db
    .selectFrom('outbox_mails')
    .select('link')
    .where('recipient', '=', recipient)
    .executeTakeFirstOrThrow()
  return link ?? ''
}

/** Like {@link linkIn}, of the newest mail whose title begins like this. */
const linkTo = async (recipient: string, title: string): Promise<string> => {
  const { link } = await server.database.db
    .selectFrom('outbox_mails')
    .select('link')
    .where('recipient', '=', recipient)
    .where('subject', 'like', `%${title}%`)
    .executeTakeFirstOrThrow()
  return link ?? ''
}

type Scrypt = typeof crypto.scrypt
/** Replaces the hashing of passwords during a test. */
const hashWith = (made: (scrypt: Scrypt) => Scrypt): void => {
  const { scrypt } = crypto
  crypto.scrypt = made(scrypt)
  syncBuiltinESMExports()
  onTestFinished(() => {
    crypto.scrypt = scrypt
    syncBuiltinESMExports()
  })
}
/** Makes hashing cheap, so that every password is wrong. What counts attempts does not know what an attempt costs. */
const hashCheaply = (): void =>
  hashWith(
    (scrypt) =>
      ((...[password, salt, bytes, options, done]: Parameters<Scrypt>) =>
        scrypt(password, salt, bytes, { ...options, N: 2 }, done)) as Scrypt,
  )

it('limits sign-in attempts per client address, across accounts', async () => {
  await start()
  hashCheaply()
  const { max } = rateLimits.signInsPerAddress
  const replies: Reply[] = []
  for (let n = 0; n <= max; n += 1) replies.push(await wrong(`person-${n}@example.test`))
  expect(replies.map(({ status }) => status)).toEqual([...Array.from({ length: max }, () => 401), 429])
  expect(replies.at(-1)?.body).toMatchObject({ ok: false, code: 'rate_limited' })
})

it.each(['admin@dock.localhost', 'nobody@example.test'])(
  'limits sign-in attempts per account, whether or not it exists: %s',
  async (email) => {
    await start()
    hashCheaply()
    // Below the limit per client address, so the account's limit applies. Upper and lower case count together.
    const { max } = rateLimits.signInsPerAccount
    const statuses: number[] = []
    for (let n = 0; n <= max; n += 1) statuses.push((await wrong(n % 2 ? email.toUpperCase() : email)).status)
    expect(statuses).toEqual([...Array.from({ length: max }, () => 401), 429])
    expect((await wrong('other@example.test')).status).toBe(401)
  },
)

it('counts no sign-in that succeeds, and makes the device known', async () => {
  await start()
  const { email, password } = server.admin
  let cookie = ''
  for (let n = 0; n <= rateLimits.signInsPerAccount.max; n += 1) {
    const reply = await post('/sign-in/email', { email, password })
    expect(reply.status).toBe(200)
    cookie = cookieOf(reply)
    expect(reply.headers.getSetCookie()).toContainEqual(
      expect.stringMatching(/^dock\.device=[^;]+; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/),
    )
  }
  hashCheaply()
  for (let n = 0; n < rateLimits.signInsPerAccount.max; n += 1) await wrong(email)
  expect((await wrong(email)).status).toBe(429)
  expect((await post('/sign-in/email', { email, password: 'wrong password' }, { cookie })).status).toBe(401)
})

it('responds to a wrong password and an unknown address identically, with the same hashing work', async () => {
  await start()
  const hashed: unknown[] = []
  hashWith(
    (scrypt) =>
      ((...given: Parameters<Scrypt>) => {
        hashed.push(given[3])
        scrypt(...given)
      }) as Scrypt,
  )
  const known = await wrong(server.admin.email)
  const unknown = await wrong('nobody@example.test')
  expect([known.status, known.body]).toEqual([unknown.status, unknown.body])
  const names = ({ headers }: Reply) => [...headers.keys()].filter((name) => name !== 'x-request-id')
  expect(names(known)).toEqual(names(unknown))
  expect(hashed).toHaveLength(2)
  expect(hashed[0]).toEqual(hashed[1])
})

it('responds to every reset request identically, mails only known users, and accepts each link once', async () => {
  await start()
  await server.controlPlane.stop()
  const ask = (email: string) => post('/request-password-reset', { email })
  const known = await ask(server.admin.email)
  const unknown = await ask('nobody@example.test')
  expect(known.status).toBe(200)
  expect([known.status, known.body]).toEqual([unknown.status, unknown.body])
  await vi.waitFor(async () => expect(await mailTo(server.admin.email)).toHaveLength(1), { timeout: 60_000 })
  await server.controlPlane.stop()
  expect(await mailTo('nobody@example.test')).toEqual([])

  const session = await server.signIn()
  const link = /http\S+\/reset-password\?token=(\S+)/.exec(await linkIn(server.admin.email))
  expect(link?.[0]).toContain(`${server.config.appUrl}/reset-password?`)
  const token = link?.[1]
  const stored = await server.database.db.selectFrom('verifications').selectAll().execute()
  expect(JSON.stringify(stored)).not.toContain(token)
  const set = () => post('/reset-password', { token, newPassword: 'another password' })
  expect((await set()).status).toBe(200)
  expect((await set()).status).toBe(400)
  expect((await server.fetch('/v1/me', { headers: session })).status).toBe(401)
  await server.signIn(server.admin.email, 'another password')
  await expect(server.signIn()).rejects.toThrow('401')
})

it('limits password reset mails per account', async () => {
  await start()
  const { max } = rateLimits.passwordResetsPerAccount
  const statuses: number[] = []
  for (let n = 0; n <= max; n += 1)
    statuses.push((await post('/request-password-reset', { email: 'nobody@example.test' })).status)
  expect(statuses).toEqual([...Array.from({ length: max }, () => 200), 429])
})

it('exposes no endpoint of better-auth that is not listed', async () => {
  await start()
  const session = await server.signIn()
  const codeOf = async (path: string) => (await post(path, {}, session)).body.code
  for (const path of ['/update-user', '/unlink-account', '/delete-user', '/nonsense'])
    expect([path, await codeOf(path)]).toEqual([path, 'not_found'])
  const odd = await server.fetch('/api/auth/sign-in/email', { method: 'POST', body: 'email=a&password=b' })
  expect([odd.status, ((await odd.json()) as { code: string }).code]).toEqual([400, 'validation_error'])
})

it('lets a closed account sign in and sign out, and refuses everything else', async () => {
  await start()
  const session = await server.signIn()
  const { db } = server.database
  await db.updateTable('users').set({ closed_at: new Date() }).execute()
  const reopened = await server.signIn()
  const change = { currentPassword: server.admin.password, newPassword: 'another password' }
  expect(await post('/change-password', change, reopened)).toMatchObject({
    status: 403,
    body: { code: 'account_closed' },
  })
  await db.updateTable('users').set({ erased_at: new Date() }).execute()
  expect(await post('/change-password', change, session)).toMatchObject({
    status: 410,
    body: { code: 'account_closed' },
  })
  expect((await post('/sign-out', {}, session)).status).toBe(200)
})

it('requires an invitation to sign up by default, and refuses all sign-ups when closed', async () => {
  await start()
  expect(await signUp('new@example.test')).toMatchObject({
    status: 403,
    body: { code: 'SIGN_UP_BY_INVITATION' },
  })
  await server.stop()
  await start({ DOCK_SIGNUP: 'closed' })
  expect(await signUp('new@example.test')).toMatchObject({ status: 403, body: { code: 'SIGN_UP_CLOSED' } })
  const people = await server.database.db.selectFrom('users').select('email').execute()
  expect(people).toEqual([{ email: server.admin.email }])
})

it.each(['invite', 'closed'])('does not tell who has an account while sign-up is %s', async (policy) => {
  await start({ DOCK_SIGNUP: policy })
  const seen = async (email: string, more: object = {}) => {
    const { status, body, headers } = await signUp(email, more)
    const names = [...headers.keys()].filter((name) => name !== 'x-request-id')
    return { status, body, names }
  }
  const unknown = await seen('nobody@example.test')
  expect(unknown.status).toBe(403)
  for (const more of [{}, { password: 'short' }, { invitationToken: 'x' }])
    expect(await seen(server.admin.email, more)).toEqual(unknown)
  expect(await seen(server.admin.email.toUpperCase())).toEqual(unknown)
})

it('tells who has the token of their invitation that the address is taken', async () => {
  await start()
  await server.controlPlane.stop()
  const path = `/v1/organizations/${server.admin.organizationId}/members`
  const email = 'invited@example.test'
  expect((await server.call('POST', path, { email })).status).toBe(201)
  const invitationToken = /invitations\/(\S+)/.exec(await linkIn(email))![1]!
  expect((await signUp(email, { invitationToken })).status).toBe(200)
  expect((await signUp(email, { invitationToken })).status).toBe(422)
  expect((await signUp(email)).status).toBe(403)
})

it('lets an invited user sign up with the token of their mail, ignoring the case of the address', async () => {
  await start()
  await server.controlPlane.stop()
  const path = `/v1/organizations/${server.admin.organizationId}/members`
  const invite = async (email: string): Promise<string> => {
    expect((await server.call('POST', path, { email })).status).toBe(201)
    return /invitations\/(\S+)/.exec(await linkIn(email))![1]!
  }
  const invitationToken = await invite('invited@example.test')
  const another = await invite('another@example.test')
  for (const proof of [{}, { invitationToken: another }, { invitationToken: '' }, { invitationToken: [] }])
    expect(await signUp('invited@example.test', proof)).toMatchObject({
      status: 403,
      body: { code: 'SIGN_UP_BY_INVITATION' },
    })
  expect((await signUp('other@example.test', { invitationToken })).status).toBe(403)
  expect((await signUp('Invited@Example.test', { invitationToken })).status).toBe(200)
  await server.database.db.updateTable('users').set({ email_verified: true }).execute()
  const headers = await server.signIn('invited@example.test', 'a long password')
  const own = await server.fetch('/v1/me/invitations', { headers })
  expect(((await own.json()) as { data: unknown[] }).data).toHaveLength(1)
})

it('lets anybody sign up when open, and binds the session cookie to the host over https', async () => {
  await start({ DOCK_SIGNUP: 'open', DOCK_PUBLIC_URL: 'https://dock.example.test' })
  const reply = await signUp('New@example.test')
  expect(reply.status).toBe(200)
  const cookie = reply.headers.getSetCookie().find((each) => each.startsWith('__Host-dock.session_token='))
  for (const attribute of ['Secure', 'HttpOnly', 'SameSite=Lax', 'Path=/'])
    expect(cookie).toContain(attribute)
  expect(cookie).not.toContain('Domain')
  const me = await server.fetch('/v1/me', { headers: { cookie: cookie!.split(';')[0]! } })
  expect(((await me.json()) as { data: object }).data).toMatchObject({
    email: 'new@example.test',
    emailVerified: false,
    providers: ['credential'],
    instanceAdmin: false,
  })
  const person = await server.database.db
    .selectFrom('users')
    .select('name')
    .where('email', '=', 'new@example.test')
    .executeTakeFirst()
  expect(person?.name).toBe('A Person')
})

const personAt = (email: string) =>
  server.database.db.selectFrom('users').selectAll().where('email', '=', email).executeTakeFirstOrThrow()

it('verifies an address only in a session of its account, and asks others to sign in first', async () => {
  await start({ DOCK_SIGNUP: 'open' })
  await server.controlPlane.stop()
  const email = 'squatted@example.test'
  const squatter = await signUp(email)
  const link = /http\S+(\/api\/auth\/verify-email\?token=\S+)/.exec(await linkIn(email))![1]!
  const open = (path: string, cookie?: string) =>
    server.fetch(path, { redirect: 'manual', headers: cookie === undefined ? {} : { cookie } })
  const byOwner = await open(link)
  expect(byOwner.status).toBe(302)
  const next = new URLSearchParams({ next: link })
  expect(byOwner.headers.get('location')).toBe(`${server.config.appUrl}/sign-in?${next}`)
  const bySomebody = await open(link.replace(/&callbackURL=.*/, ''), (await server.signIn()).cookie)
  expect([bySomebody.status, await bySomebody.json()]).toMatchObject([401, { code: 'SIGN_IN_FIRST' }])
  expect((await personAt(email)).email_verified).toBe(false)
  // better-auth refuses invalid tokens.
  for (const token of ['', 'x', 'a.b.c', 'a.e30.c'])
    expect((await open(`/api/auth/verify-email?token=${token}`)).status).toBe(401)

  expect((await open(link, cookieOf(squatter))).status).toBe(302)
  expect((await personAt(email)).email_verified).toBe(true)
})

it('refuses callbacks that lead, or can be read to lead, to another host', async () => {
  await start()
  const code = async (callbackURL: string) => {
    const query = new URLSearchParams({ token: 'x', callbackURL })
    const response = await server.fetch(`/api/auth/verify-email?${query}`, { redirect: 'manual' })
    return response.status === 302
      ? new URL(response.headers.get('location')!, server.config.apiUrl).origin
      : response.status
  }
  const own = new URL(server.config.apiUrl).origin
  expect(await code('/organizations')).toBe(own)
  for (const callback of [
    '//evil.test',
    '/.//evil.test',
    '/x/..//evil.test',
    '/%2e//evil.test',
    '/.\\/evil.test',
    '/\t/evil.test',
  ])
    expect([callback, await code(callback)]).toEqual([callback, 400])
  expect(await code('https://evil.test/')).toBe(403)
})

it('adds no key and no login to an account whose address is not verified', async () => {
  await start({ DOCK_SIGNUP: 'open', GITHUB_CLIENT_ID: 'id', GITHUB_CLIENT_SECRET: 'secret' })
  const cookie = cookieOf(await signUp('new@example.test'))
  const publicKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl a@b'
  const write = async (path: string, body: object) => {
    const response = await server.fetch(path, {
      method: 'POST',
      headers: { cookie, origin: server.config.apiUrl, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return [response.status, ((await response.json()) as { code?: string }).code]
  }
  const writes = () =>
    Promise.all([
      write('/v1/api-keys', { name: 'k' }),
      write('/v1/ssh-keys', { name: 'k', publicKey }),
      write('/api/auth/link-social', { provider: 'github', callbackURL: '/' }),
    ])
  const refused = [403, 'email_verification_required']
  expect(await writes()).toEqual([refused, refused, refused])
  await server.database.db.updateTable('users').set({ email_verified: true }).execute()
  expect((await writes()).map(([status]) => status)).toEqual([201, 201, 200])
})

it('makes nothing for an account whose address is not verified, also after a sign-up with the link of an invitation', async () => {
  await start()
  await server.controlPlane.stop()
  const { organizationId } = server.admin
  const email = 'nobody@example.test'
  expect((await server.call('POST', `/v1/organizations/${organizationId}/members`, { email })).status).toBe(
    201,
  )
  const listed = await server.call('GET', `/v1/organizations/${organizationId}/invitations`)
  const [{ id }] = listed.body.data as [{ id: string }]
  const path = `/api/dashboard/organizations/${organizationId}/invitations/${id}/link`
  const linked = await server.fetch(path, { method: 'POST', headers: await server.signIn() })
  const { link } = ((await linked.json()) as { data: { link: string } }).data
  const invitationToken = link.split('/').at(-1)!
  const signedUp = await signUp(email, { invitationToken })
  expect(signedUp.status).toBe(200)
  const headers = { cookie: cookieOf(signedUp), origin: server.config.apiUrl }
  const codeOf = async (method: string, at: string, body?: object) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await server.fetch(at, {
      method,
      ...sent,
      headers: { ...headers, 'content-type': 'application/json' },
    })
    return ((await response.json()) as { code?: string }).code ?? response.status
  }
  const refused = 'email_verification_required'
  expect(await codeOf('POST', '/v1/organizations', { name: 'Mine' })).toBe(refused)
  expect(await codeOf('POST', '/v1/docks', { workspaceId: newUuid() })).toBe(refused)
  expect(await codeOf('POST', `/v1/invitations/${invitationToken}/accept`)).toBe('invitation_not_found')
  expect(await codeOf('GET', '/v1/me')).toBe(200)
  expect(await codeOf('PATCH', '/v1/me/profile', { displayName: 'Ada' })).toBe(200)

  // The mailed link of the confirmation is the proof.
  const [, confirm] = /http\S+(\/api\/auth\/verify-email\?token=\S+)/.exec(await linkTo(email, 'Confirm'))!
  expect((await server.fetch(confirm!, { headers, redirect: 'manual' })).status).toBe(302)
  expect(await codeOf('POST', `/v1/invitations/${invitationToken}/accept`)).toBe(200)
  expect(await codeOf('POST', '/v1/organizations', { name: 'Mine' })).toBe(201)
})

it.each([
  ['an unverified account', false],
  ['an account for whose address only an instance admin vouched', true],
])(
  'revokes the keys, sessions and logins of %s when the owner of its address sets a password',
  async (_, isVouched) => {
    await start({ DOCK_SIGNUP: 'open' })
    await server.controlPlane.stop()
    const { db } = server.database
    const email = 'squatted@example.test'
    const squatter = { cookie: cookieOf(await signUp(email)) }
    const { id } = await personAt(email)
    if (isVouched) {
      const operator = await addPerson(server, { instanceAdmin: true })
      const path = `/api/dashboard/unverified-people/${id}/vouch`
      const headers = { cookie: operator.cookie, origin: server.config.apiUrl }
      expect((await server.fetch(path, { method: 'POST', headers })).status).toBe(200)
    }
    // Inserted directly: the API refuses keys for an unverified address.
    const { raw } = await insertApiKey(db, { userId: id, name: 'k', expiresAt: null, now: new Date() })
    const key = {
      public_key: 'ssh-ed25519 x',
      fingerprint: 'SHA256:x',
      last_used_at: null,
      created_at: new Date(),
    }
    await db
      .insertInto('ssh_keys')
      .values({ id: newUuid(), user_id: id, name: 'k', ...key })
      .execute()
    await db
      .insertInto('login_accounts')
      .values({ user_id: id, provider_id: 'github', account_id: '1' })
      .execute()
    const statuses = async () => [
      (await server.fetch('/v1/me', { headers: squatter })).status,
      (await server.call('GET', '/v1/me', undefined, raw)).status,
      (await db.selectFrom('ssh_keys').select('id').execute()).length,
      (await db.selectFrom('login_accounts').select('id').where('user_id', '=', id).execute()).length,
    ]
    expect(await statuses()).toEqual([200, 200, 1, 2])

    const reset = async (newPassword: string) => {
      await db.deleteFrom('outbox_mails').execute()
      await post('/request-password-reset', { email })
      await vi.waitFor(async () => expect(await mailTo(email)).toHaveLength(1), { timeout: 60_000 })
      const token = /reset-password\?token=(\S+)/.exec(await linkIn(email))![1]
      expect((await post('/reset-password', { token, newPassword })).status).toBe(200)
    }
    await reset('of the owner')
    expect(await statuses()).toEqual([401, 401, 0, 1])
    expect((await personAt(email)).email_verified).toBe(true)

    // The address is verified now, so a second reset keeps the owner's keys.
    const owner = await server.signIn(email, 'of the owner')
    const made = await server.fetch('/v1/api-keys', {
      method: 'POST',
      headers: { ...owner, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'k' }),
    })
    const { apiKey } = ((await made.json()) as { data: { apiKey: string } }).data
    await reset('forgotten')
    expect((await server.call('GET', '/v1/me', undefined, apiKey)).status).toBe(200)
  },
)

it('ends the sessions in the transaction that verifies the address', async () => {
  await start({ DOCK_SIGNUP: 'open' })
  const email = 'squatted@example.test'
  const headers = { cookie: cookieOf(await signUp(email)) }
  const status = async () => (await server.fetch('/v1/me', { headers })).status
  expect(await status()).toBe(200)
  await claimAddress(server.database.db, async () => undefined, (await personAt(email)).id)
  expect(await status()).toBe(401)
})

it('ends every other session when the password is changed', async () => {
  await start()
  const [here, elsewhere] = [await server.signIn(), await server.signIn()]
  const change = { currentPassword: server.admin.password, newPassword: 'another password' }
  const changed = await post('/change-password', { ...change, revokeOtherSessions: false }, here)
  expect(changed.status).toBe(200)
  const statusOf = async (cookie: string) => (await server.fetch('/v1/me', { headers: { cookie } })).status
  expect(await statusOf(elsewhere.cookie)).toBe(401)
  expect(await statusOf(cookieOf(changed))).toBe(200)
})

it('removes unprintable characters from the name of a new user and drops an invalid avatar URL', async () => {
  await start({ DOCK_SIGNUP: 'open' })
  const bidi = '\u202e'
  const nameOf = async (name: string, image?: string) => {
    const email = `${newUuid()}@example.test`
    expect((await signUp(email, { name, image })).status).toBe(200)
    const person = await personAt(email)
    return [person.name === email.split('@')[0]!.slice(0, 60) ? 'the address' : person.name, person.image]
  }
  expect(await nameOf(`A\nB${bidi}C`, 'javascript:alert(1)')).toEqual(['ABC', null])
  expect(await nameOf(`${bidi} `, `https://a.test/${'x'.repeat(2000)}`)).toEqual(['the address', null])
  expect(await nameOf('Ada', 'https://a.test/ada.png')).toEqual(['Ada', 'https://a.test/ada.png'])
})
