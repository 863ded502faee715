/**
 * Checks access for every implemented route and every kind of caller, generated from the contract. A new route is
 * included automatically; support/resources.ts and support/bodies.ts provide its path parameters and body.
 */
import {
  accessTerms,
  admitsUnverified,
  errorCodes,
  type Role,
  type Route,
  type RouteName,
  roleReaches,
  routes,
} from '@dock/contract'
import { insertApiKey } from '@dock/control-plane/keys'
import { addPerson, startControlPlaneWithHost, type TestPerson } from '@dock/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Answer,
  type Credentials,
  credentialsOf,
  missingRows,
  parametersOf,
  prepare,
  send,
} from './support/request.ts'
import { makeTenant } from './support/tenant.ts'

// Started before the tests are defined, because only the server knows which routes are implemented.
const server = await startControlPlaneWithHost({ confinesProcesses: true })
const tenant = await makeTenant(server)
const stranger = await makeTenant(server)
let closed: TestPerson
let erased: TestPerson
let instanceAdmin: TestPerson
let revokedKey: string
let expiredKey: string
let dockKey: string
let otherDockKey: string

const keyOf = async (person: TestPerson, values: object): Promise<string> => {
  const { db } = server.database
  const { row, raw } = await insertApiKey(db, {
    userId: person.userId,
    name: 'k',
    expiresAt: null,
    now: new Date(),
  })
  await db.updateTable('api_keys').set(values).where('id', '=', row.id).execute()
  return raw
}
const personWith = async (values: object): Promise<TestPerson> => {
  const person = await addPerson(server)
  await server.database.db.updateTable('users').set(values).where('id', '=', person.userId).execute()
  return person
}

beforeAll(async () => {
  closed = await personWith({ closed_at: new Date() })
  erased = await personWith({ closed_at: new Date(), erased_at: new Date() })
  instanceAdmin = await addPerson(server, { instanceAdmin: true })
  revokedKey = await keyOf(tenant.owner, { revoked_at: new Date() })
  expiredKey = await keyOf(tenant.owner, { expires_at: new Date(Date.now() - 1000) })
  dockKey = await keyOf(tenant.owner, { dock_id: tenant.dockId })
  otherDockKey = await keyOf(tenant.owner, { dock_id: stranger.dockId })
})
afterAll(() => server.stop())

const built = (Object.entries(routes) as [RouteName, Route][]).filter(
  ([name]) => name in server.controlPlane.handlers,
)
const signedIn = built.filter(
  ([name, route]) => route.access.credentials !== 'public' && missingRows(name, route).length === 0,
)
const scoped = signedIn.filter(([, route]) => accessTerms(route.access))
const sessionOnly = (route: Route): boolean => route.access.credentials.endsWith('session')
const forInstance = (route: Route): boolean => route.access.credentials.startsWith('instance-admin')

const said = (answer: Answer) => [answer.status, answer.code]
const ofTenant = (name: RouteName) => prepare(server, name, { scope: tenant, rest: tenant })
const expectAnswer = async (name: RouteName, credentials: Credentials, status: number, code: string) =>
  expect(said(await send(server, await ofTenant(name), credentials))).toEqual([status, code])

it('support/resources.ts and support/bodies.ts have rows for every implemented route', () => {
  expect(built.flatMap(([name, route]) => missingRows(name, route))).toEqual([])
  const unknown: Route = { ...routes.createWorkspace, path: '/v1/unknown/:id' }
  expect(missingRows('createTemplate', unknown)).toEqual(['support/resources.ts: /v1/unknown/:id'])
  expect(missingRows('readDock', unknown)).toContain('support/bodies.ts: readDock')
})

describe.each(signedIn)('%s', (name, route) => {
  it('responds with 401 without valid credentials', async () => {
    const nobody: Credentials[] = [null, { key: 'dock_nonsense' }, { key: revokedKey }, { key: expiredKey }]
    for (const credentials of [...nobody, { cookie: 'dock.session_token=forged.AAAA' }])
      await expectAnswer(name, credentials, 401, 'unauthorized')
  })

  it('accepts keys and sessions as the contract says, and writes with a session only from the same site', async () => {
    if (sessionOnly(route)) await expectAnswer(name, { key: tenant.owner.apiKey }, 403, 'session_required')
    if (route.method !== 'GET')
      await expectAnswer(name, { cookie: tenant.owner.cookie, fromOtherSite: true }, 403, 'forbidden')
  })

  it('accepts a Dock’s key only for that Dock, and only if the contract allows it', async () => {
    await expectAnswer(name, { key: otherDockKey }, 403, 'dock_key_forbidden')
    if (!('dockKey' in route.access)) return expectAnswer(name, { key: dockKey }, 403, 'dock_key_forbidden')
    const answer = await send(server, await ofTenant(name), { key: dockKey })
    expect([401, 403]).not.toContain(answer.status)
  })

  it('refuses closed and erased accounts', async () => {
    for (const key of [closed.apiKey, closed.cookie]) {
      const credentials = key === closed.cookie ? { cookie: key } : { key }
      if (!('closedAccount' in route.access)) await expectAnswer(name, credentials, 403, 'account_closed')
    }
    if ('closedAccount' in route.access) {
      // The route may reopen or erase the account, so it gets an account that no other test uses.
      const own = await personWith({ closed_at: new Date() })
      const answer = await send(server, await ofTenant(name), { cookie: own.cookie })
      expect(answer.code).not.toBe('account_closed')
    }
    await expectAnswer(name, { cookie: erased.cookie }, 410, 'account_closed')
  })

  it('admits callers with the required role', async () => {
    const fresh = route.method === 'GET' ? tenant : await makeTenant(server)
    const role: Role = accessTerms(route.access)?.role ?? 'owner'
    const person = forInstance(route) ? instanceAdmin : fresh[role]
    const request = await prepare(server, name, { scope: fresh, rest: fresh })
    const answer = await send(server, request, credentialsOf(route, person))
    const refused = ['unauthorized', 'forbidden', 'session_required', accessTerms(route.access)?.outsider]
    if (answer.code) expect(refused, answer.text).not.toContain(answer.code)
    expect(answer.status, answer.text).not.toBe(500)
    // A session can read what a key can read.
    if (route.method === 'GET')
      expect(said(await send(server, request, { cookie: person.cookie }))).toEqual(said(answer))
  })
})

describe.each(signedIn.filter(([, route]) => !forInstance(route)))(
  '%s, without a verified address',
  (name, route) => {
    it('is refused before anything else is looked at, unless the contract admits it', async () => {
      const isAdmitted = admitsUnverified(route.access, route.method)
      const fresh = route.method === 'GET' || !isAdmitted ? tenant : await makeTenant(server)
      const person = await addPerson(server, {
        emailVerified: false,
        role: 'owner',
        organizationId: fresh.organizationId,
      })
      const request = await prepare(server, name, { scope: fresh, rest: fresh })
      const answer = await send(server, request, credentialsOf(route, person))
      if (isAdmitted) {
        expect(answer.code).not.toBe('email_verification_required')
        return
      }
      expect(said(answer)).toEqual([403, 'email_verification_required'])
      const absent = await prepare(server, name, { scope: 'absent', rest: 'absent' })
      expect(await send(server, absent, credentialsOf(route, person))).toEqual(answer)
    })
  },
)

it('accounts without a verified address may write nothing but what is their own or ends something', () => {
  const writes = signedIn.filter(
    ([, { access, method }]) => method !== 'GET' && method !== 'DELETE' && admitsUnverified(access, method),
  )
  expect(writes.map(([name]) => name).sort()).toEqual([
    'acceptInvitation',
    'acceptOwnInvitation',
    'closeAccount',
    'declineInvitation',
    'declineOwnInvitation',
    'eraseAccount',
    'leaveOrganization',
    'markAllNotificationsRead',
    'markNotificationRead',
    'reopenAccount',
    'setPersonalNotificationPreference',
    'stopDock',
    'updateProfile',
  ])
})

describe.each(signedIn.filter(([, route]) => forInstance(route)))('%s, of the instance', (name) => {
  it('requires an instance admin with a verified address', async () => {
    const unverified = await addPerson(server, { instanceAdmin: true, emailVerified: false })
    await expectAnswer(name, { cookie: tenant.owner.cookie }, 403, 'instance_admin_required')
    await expectAnswer(name, { cookie: unverified.cookie }, 403, 'email_verification_required')
  })
})

describe.each(scoped)('%s, of an organization', (name, route) => {
  const terms = accessTerms(route.access)!

  it('refuses members below the required role', async () => {
    for (const role of ['member', 'admin'] as const)
      if (!roleReaches(role, terms.role))
        await expectAnswer(name, credentialsOf(route, tenant[role]), 403, 'forbidden')
  })

  it('gives outsiders exactly the response for an organization that does not exist', async () => {
    const credentials = credentialsOf(route, stranger.owner)
    const foreign = await send(server, await ofTenant(name), credentials)
    const absent = await send(
      server,
      await prepare(server, name, { scope: 'absent', rest: 'absent' }),
      credentials,
    )
    expect(said(foreign)).toEqual([404, terms.outsider])
    expect(errorCodes[terms.outsider].status).toBe(404)
    expect(foreign).toEqual(absent)
  })
})

const restOf = (route: Route) =>
  parametersOf(route).filter(({ name }) => accessTerms(route.access)?.place !== `params.${name}`)
const nested = signedIn.filter(([, route]) => restOf(route).length > 0 && !forInstance(route))

describe.each(nested)('%s, with ids of another organization', (name, route) => {
  it('gives exactly the response for ids that do not exist', async () => {
    const credentials = credentialsOf(route, stranger.owner)
    const foreign = await prepare(server, name, { scope: stranger, rest: tenant })
    const absent = await prepare(server, name, { scope: stranger, rest: 'absent' })
    const answers = [await send(server, foreign, credentials), await send(server, absent, credentials)]
    expect(answers[0]).toEqual(answers[1])
  })
})
