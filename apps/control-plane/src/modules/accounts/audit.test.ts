/** What the audit log tells of sign-ins: how, from where, and what somebody tried. Never a password, cookie or token. */
import { createHash } from 'node:crypto'
import { routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  type Recorded,
  recordedDuring,
  startTestControlPlane,
  type TestControlPlane,
} from '@dock/testkit'
import { client, type OauthServer, startOauthServer } from '@dock/testkit/src/oauth-server.ts'
import { createVirtualClock, type VirtualClock } from '@dock/testkit/src/virtual-clock.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { replaceErasedUser } from './closed-users.ts'

const address = '198.51.100.77'
const password = 'correct horse battery'

let server: TestControlPlane
let clock: VirtualClock
let provider: OauthServer
let url: string
let adminId: string
let organizationId: string
beforeAll(async () => {
  provider = await startOauthServer()
  clock = createVirtualClock(new Date())
  server = await startTestControlPlane({
    clock,
    environment: {
      DOCK_SIGNUP: 'open',
      DOCK_TRUSTED_PROXIES: '127.0.0.0/8',
      GITHUB_URL: provider.url,
      GITHUB_CLIENT_ID: client.id,
      GITHUB_CLIENT_SECRET: client.secret,
    },
  })
  url = `http://127.0.0.1:${(await server.listen()).port}`
  organizationId = server.admin.organizationId
  const { data } = (await server.call('GET', '/v1/me')).body
  adminId = routes.readMe.response.parse(data).id
})
afterAll(async () => {
  await server.stop()
  await provider.close()
})

type Reply = { status: number; cookie: string; location: string; body: { url?: string; token?: string } }
const send = async (method: string, path: string, body?: object, cookie = ''): Promise<Reply> => {
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...{ 'x-forwarded-for': address, origin: server.config.apiUrl, cookie },
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    cookie: response.headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; '),
    location: response.headers.get('location') ?? '',
    body: text.startsWith('{') ? (JSON.parse(text) as Reply['body']) : {},
  }
}
const auth = (path: string, body: object = {}, cookie = '') => send('POST', `/api/auth${path}`, body, cookie)
const signIn = (email = server.admin.email, as = password) => auth('/sign-in/email', { email, password: as })
const during = (act: () => Promise<unknown>) => recordedDuring(server.database, act)
const person = (id: string) => ({ type: 'person', id, name: null })
const bySession = (userId: string, action: string, details: object = {}): Partial<Recorded> =>
  ({
    ...{ action, outcome: 'succeeded', actorId: userId, through: 'session', address, organizationId: null },
    ...{ target: person(userId), details },
  }) as Partial<Recorded>
const userId = async (email: string): Promise<string> =>
  (
    await server.database.db
      .selectFrom('users')
      .select('id')
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
  ).id

it('a sign-in by password and its end, which the owners of the person’s organizations see', async () => {
  let cookie = ''
  const [signedIn, ...others] = await during(async () => {
    cookie = (await signIn()).cookie
  })
  expect(others).toEqual([])
  expect(signedIn).toMatchObject(bySession(adminId, 'account.signed_in', { method: 'password' }))
  expect(signedIn!.copies).toEqual([organizationId])
  const [signedOut, ...more] = await during(() => auth('/sign-out', {}, cookie))
  expect(more).toEqual([])
  expect(signedOut).toMatchObject(bySession(adminId, 'account.signed_out'))
  expect(signedOut!.credentialId).toBe(signedIn!.credentialId)
  expect(await during(() => auth('/sign-out', {}, cookie))).toEqual([])
})

it('a new account, and a session that another one ends', async () => {
  const email = `${newUuid()}@example.test`
  const [first] = await during(() => auth('/sign-up/email', { email, password, name: 'New' }))
  const id = await userId(email)
  expect(first).toMatchObject(bySession(id, 'account.signed_in', { method: 'password', isNew: true }))
  const { cookie } = await signIn(email)
  const ended = await during(() => auth('/revoke-other-sessions', {}, cookie))
  const details = { endedSession: first!.credentialId }
  expect(ended).toEqual([expect.objectContaining(bySession(id, 'account.signed_out', details))])
  expect(ended[0]!.credentialId).not.toBe(first!.credentialId)
})

it('attempts at a known account, counted for each address, in each organization of the person', async () => {
  const { email, userId: id } = await addPerson(server, { role: 'member' })
  const attack = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++)
      expect((await signIn(email.toUpperCase(), 'wrong password')).status).toBe(401)
    await expect.poll(attempts).toBe(times)
  }
  const attempts = async (): Promise<unknown> => (await newest())?.details.attempts
  const newest = async () => {
    const { data } = (
      await server.call('GET', `/v1/organizations/${organizationId}/audit?targetId=${id}&limit=1`)
    ).body
    return routes.listAudit.response.parse(data).entries[0]
  }
  await attack(3)
  expect(await newest()).toMatchObject({
    ...{ action: 'account.sign_in_failed', outcome: 'failed', actor: null, through: 'platform', address },
    target: { type: 'person', id, name: 'Somebody' },
    details: { method: 'password', attempts: 3 },
  })
  clock.advance(601_000)
  await attack(1)
})

it('no attempt at an unknown address', async () => {
  const { rows: before } = await server.database.connections.query('select count(*) as n from audit_entries')
  expect((await signIn('nobody@example.test')).status).toBe(401)
  // The attempt of a known account comes after it, and so does its entry.
  const { email, userId: id } = await addPerson(server)
  await signIn(email)
  await expect
    .poll(async () => (await server.call('GET', `/v1/audit?targetId=${id}`)).body.data)
    .toMatchObject({ entries: [{ action: 'account.sign_in_failed' }] })
  const { rows: after } = await server.database.connections.query('select count(*) as n from audit_entries')
  expect(Number(after[0]!.n)).toBe(Number(before[0]!.n) + 1)
})

it('a password that was changed, and one that was set by a mailed link', async () => {
  const email = `${newUuid()}@example.test`
  const { cookie } = await auth('/sign-up/email', { email, password, name: 'New' })
  const id = await userId(email)
  const newPassword = 'another long password'
  const change = (currentPassword: string) =>
    auth('/change-password', { currentPassword, newPassword }, cookie)
  expect(await during(() => change('wrong password'))).toEqual([])
  expect(await during(() => change(password))).toEqual([
    expect.objectContaining(bySession(id, 'account.password_changed', { method: 'old password' })),
  ])
  const token = newUuid()
  const identifier = createHash('sha256').update(`reset-password:${token}`).digest('base64url')
  const expires_at = new Date(Date.now() + 600_000)
  await server.database.db.insertInto('verifications').values({ identifier, value: id, expires_at }).execute()
  const reset = (wanted: string) => auth('/reset-password', { token, newPassword: wanted })
  expect(await during(() => reset('short'))).toEqual([])
  expect(await during(() => reset(newPassword))).toMatchObject([
    {
      ...{ action: 'account.password_changed', actorId: null, through: 'platform', address },
      target: person(id),
      details: { method: 'mailed link', keysRevoked: true },
    },
  ])
})

it('a sign-in with a provider, and its connection, added and removed', async () => {
  const through = async (way: string, cookie = ''): Promise<Reply> => {
    const begun = await auth(way, { provider: 'github', callbackURL: '/welcome' }, cookie)
    const back = new URL(provider.agree(begun.body.url!))
    return send(
      'GET',
      back.pathname + back.search,
      undefined,
      [cookie, begun.cookie].filter(Boolean).join('; '),
    )
  }
  const made = await during(() => through('/sign-in/social'))
  const id = await userId('ada@example.test')
  const github = { type: 'provider', id: 'github', name: null }
  expect(made).toMatchObject([
    { ...bySession(id, 'account.connection_added'), target: github },
    bySession(id, 'account.signed_in', { method: 'github' }),
  ])
  expect(await during(() => through('/sign-in/social'))).toMatchObject([
    bySession(id, 'account.signed_in', { method: 'github' }),
  ])
  provider.person = { ...provider.person, id: 2, email: 'other@example.test' }
  const { cookie } = await signIn()
  expect(await during(() => through('/link-social', cookie))).toMatchObject([
    { ...bySession(adminId, 'account.connection_added'), target: github },
  ])
  const remove = () => send('DELETE', '/v1/me/connections/github:2', undefined, cookie)
  expect(await during(remove)).toMatchObject([
    { ...bySession(adminId, 'account.connection_removed'), target: github, copies: [organizationId] },
  ])
  expect(await during(remove)).toEqual([])
})

it('an admin who vouched for an address, for instance admins only', async () => {
  const { userId: id } = await addPerson(server, { role: 'member', emailVerified: false })
  const { cookie } = await signIn()
  const vouch = () => send('POST', `/api/dashboard/unverified-people/${id}/vouch`, {}, cookie)
  expect(await during(vouch)).toMatchObject([
    { action: 'account.vouched_for', actorId: adminId, target: person(id), organizationId: null, copies: [] },
  ])
  expect(await during(vouch)).toEqual([])
})

it('nothing of the last session of an erased person', async () => {
  const email = `${newUuid()}@example.test`
  const { cookie } = await auth('/sign-up/email', { email, password, name: 'New' })
  const { db } = server.database
  const id = await userId(email)
  const session = await db
    .selectFrom('sessions')
    .select('id')
    .where('user_id', '=', id)
    .executeTakeFirstOrThrow()
  await db.transaction().execute((tx) => replaceErasedUser(tx, id, session.id, clock.now()))
  expect(await during(() => auth('/sign-out', {}, cookie))).toEqual([])
})

it('never holds a password, a cookie or a token', async () => {
  const { cookie } = await signIn()
  const { rows } = await server.database.connections.query('select e::text as row from audit_entries e')
  const log = rows.map(({ row }) => String(row)).join('\n')
  expect(log).toContain(adminId)
  const token = /session_token=([^.;%]+)/.exec(cookie)![1]!
  for (const secret of [password, 'wrong password', 'another long password', token, client.secret])
    expect([secret, log.includes(secret)]).toEqual([secret, false])
})
