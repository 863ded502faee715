import { routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane, type TestPerson } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'

let server: TestControlPlane
let operator: TestPerson
beforeAll(async () => {
  server = await startTestControlPlane()
  operator = await addPerson(server, { instanceAdmin: true })
})
afterAll(() => server.stop())

const inSession = async (cookie: string, method: string, path: string, body?: object) => {
  const response = await server.fetch(path, {
    method,
    headers: { cookie, origin: server.config.apiUrl, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const answer = (await response.json()) as { code?: string; data?: unknown }
  return { code: answer.code ?? response.status, data: answer.data, headers: response.headers }
}
const waiting = async () =>
  routes.listUnverifiedPeople.response.parse(
    (await inSession(operator.cookie, 'GET', '/api/dashboard/unverified-people')).data,
  )
const vouch = (id: string, cookie = operator.cookie) =>
  inSession(cookie, 'POST', `/api/dashboard/unverified-people/${id}/vouch`)
/** Invites an address to an organization of a new person, and returns the link's token. */
const invite = async (email: string, name: string) => {
  const owner = await addPerson(server)
  await server.database.db
    .updateTable('users')
    .set({ name: `${name} Owner` })
    .where('id', '=', owner.userId)
    .execute()
  const made = await server.call('POST', '/v1/organizations', { name }, owner.apiKey)
  const { id } = made.body.data as { id: string }
  await server.call('POST', `/v1/organizations/${id}/members`, { email }, owner.apiKey)
  const listed = await server.call('GET', `/v1/organizations/${id}/invitations`, undefined, owner.apiKey)
  const [invitation] = listed.body.data as [{ id: string }]
  const path = `/api/dashboard/organizations/${id}/invitations/${invitation.id}/link`
  const { data } = await inSession(owner.cookie, 'POST', path)
  return { owner, organizationId: id, token: (data as { link: string }).link.split('/').at(-1)! }
}
const signUp = async (email: string, invitationToken: string): Promise<string> => {
  const { headers, code } = await inSession('', 'POST', '/api/auth/sign-up/email', {
    email,
    invitationToken,
    name: 'Kim',
    password: 'a long password',
  })
  expect(code).toBe(200)
  return headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ')
}

it('names no organization that was deleted', async () => {
  const email = `${newUuid()}@example.test`
  const { token, organizationId, owner } = await invite(email, 'Gone')
  await signUp(email, token)
  const removed = await server.call('DELETE', `/v1/organizations/${organizationId}`, undefined, owner.apiKey)
  expect(removed.status).toBe(200)
  expect((await waiting()).people.find((each) => each.email === email)).toMatchObject({ invitation: null })
})

it('an instance admin vouches for an address, and the person finishes with the link alone', async () => {
  const email = `${newUuid()}@example.test`
  // Another organization invited the address as well. The list shows with which link the person came.
  await invite(email, 'Mallory Inc')
  const { token, organizationId, owner } = await invite(email, 'Acme')
  const cookie = await signUp(email, token)
  expect((await inSession(cookie, 'POST', `/v1/invitations/${token}/accept`)).code).toBe(
    'invitation_not_found',
  )
  const person = (await waiting()).people.find((each) => each.email === email)
  expect(person).toMatchObject({
    name: 'Kim',
    invitation: { organizationName: 'Acme', invitedBy: 'Acme Owner' },
  })
  const { id } = person!

  // Owners of organizations are nobody here: anybody can own one.
  expect((await vouch(id, owner.cookie)).code).toBe('instance_admin_required')
  expect((await vouch(id, cookie)).code).toBe('instance_admin_required')
  const byKey = await server.call(
    'POST',
    `/api/dashboard/unverified-people/${id}/vouch`,
    undefined,
    operator.apiKey,
  )
  expect(byKey.body.code).toBe('session_required')
  expect((await inSession(owner.cookie, 'GET', '/api/dashboard/unverified-people')).code).toBe(
    'instance_admin_required',
  )

  const vouched = routes.vouchForAddress.response.parse((await vouch(id)).data)
  expect(vouched).toMatchObject({ userId: id, email, vouchedBy: operator.userId })
  const recorded = await server.database.db
    .selectFrom('vouched_addresses')
    .selectAll()
    .where('user_id', '=', id)
    .execute()
  expect(recorded).toEqual([
    { user_id: id, email, vouched_by: operator.userId, vouched_at: new Date(vouched.vouchedAt) },
  ])
  const accepted = await inSession(cookie, 'POST', `/v1/invitations/${token}/accept`)
  expect(accepted.data).toEqual({ organizationId, role: 'member' })
  expect((await waiting()).people.map((each) => each.email)).not.toContain(email)
  expect((await vouch(id)).code).toBe('user_not_found')
})

it('lists who came without a link too, and nobody whose account is closed', async () => {
  const person = await addPerson(server, { emailVerified: false })
  const find = async () => (await waiting()).people.find(({ id }) => id === person.userId)
  expect(await find()).toMatchObject({ email: person.email, invitation: null })
  const { db } = server.database
  await db.updateTable('users').set({ closed_at: new Date() }).where('id', '=', person.userId).execute()
  expect(await find()).toBeUndefined()
  for (const id of [person.userId, newUuid(), 'nonsense'])
    expect((await vouch(id)).code).toBe('user_not_found')
})

it('lists at most 200, the newest', async () => {
  const now = Date.now()
  await server.database.db
    .insertInto('users')
    .values(
      Array.from({ length: 201 }, (_, n) => ({
        id: newUuid(),
        name: 'Many',
        email: `${newUuid()}@many.test`,
        created_at: new Date(now + 60_000 + n),
      })),
    )
    .execute()
  const { people, hasMore } = await waiting()
  expect([people.length, hasMore]).toEqual([200, true])
  expect(people.map(({ createdAt }) => createdAt)).toEqual(
    people
      .map(({ createdAt }) => createdAt)
      .sort()
      .reverse(),
  )
})
