import { type Organization, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  startTestControlPlane,
  type TestControlPlane,
  type TestPerson,
  whileLocked,
} from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

let server: TestControlPlane
beforeAll(async () => {
  server = await startTestControlPlane()
})
afterAll(() => server.stop())

/** A new organization for each test, owned by the first user. */
let organization: Organization
beforeEach(async () => {
  const made = await server.call('POST', '/v1/organizations', { name: 'Acme', seats: 10 })
  organization = routes.createOrganization.response.parse(made.body.data)
})
const path = (rest = '') => `/v1/organizations/${organization.id}${rest}`
const join = (role: 'member' | 'admin' | 'owner'): Promise<TestPerson> =>
  addPerson(server, { role, organizationId: organization.id })
const codeOf = async (method: string, rest: string, body?: object, key?: string) => {
  const answer = await server.call(method, path(rest), body, key)
  return answer.body.code ?? answer.status
}
const adminUserId = async (): Promise<string> => {
  const row = await server.database.db
    .selectFrom('users')
    .select('id')
    .where('email', '=', server.admin.email)
    .executeTakeFirstOrThrow()
  return row.id
}

describe('members', () => {
  it('are listed with address and role, for members only', async () => {
    const member = await join('member')
    const listed = await server.call('GET', path('/members'), undefined, member.apiKey)
    const entries = routes.listMembers.response.parse(listed.body.data)
    expect(entries.map(({ email, role }) => [email, role])).toEqual([
      [server.admin.email, 'owner'],
      [member.email, 'member'],
    ])
    const stranger = await addPerson(server)
    const foreign = await server.call('GET', path('/members'), undefined, stranger.apiKey)
    const absent = await server.call('GET', `/v1/organizations/${newUuid()}/members`)
    expect([foreign.status, foreign.body]).toEqual([404, absent.body])
  })

  it('are listed with their names in the dashboard, and without them elsewhere', async () => {
    const member = await join('member')
    const { db } = server.database
    await db.updateTable('users').set({ name: 'Grace' }).where('id', '=', member.userId).execute()
    const response = await server.fetch(`/api/dashboard/organizations/${organization.id}/members`, {
      headers: { cookie: member.cookie },
    })
    const { data } = (await response.json()) as { data: unknown }
    const named = routes.listNamedMembers.response.parse(data)
    expect(named.map(({ email, name }) => [email, name])).toContainEqual([member.email, 'Grace'])
    const listed = await server.call('GET', path('/members'), undefined, member.apiKey)
    expect(listed.body.data).toEqual(named.map(({ name: _, ...rest }) => rest))
  })

  it('get another role from an admin, but the role owner only from an owner', async () => {
    const [admin, member] = [await join('admin'), await join('member')]
    const changed = await server.call(
      'PATCH',
      path(`/members/${member.userId}`),
      { role: 'admin' },
      admin.apiKey,
    )
    expect(changed.status).toBe(200)
    expect(routes.changeMemberRole.response.parse(changed.body.data)).toMatchObject({
      organizationId: organization.id,
      userId: member.userId,
      role: 'admin',
    })
    const at = `/members/${member.userId}`
    expect(await codeOf('PATCH', at, { role: 'owner' }, admin.apiKey)).toBe('forbidden')
    expect(await codeOf('PATCH', at, { role: 'owner' })).toBe(200)
    expect(await codeOf('PATCH', at, { role: 'member' }, admin.apiKey)).toBe('forbidden')
    expect(await codeOf('PATCH', at, { role: 'owner' }, admin.apiKey)).toBe('forbidden')
    expect(await codeOf('PATCH', at, { role: 'owner' })).toBe(200)
    expect(await codeOf('DELETE', at, undefined, admin.apiKey)).toBe('forbidden')
    expect(await codeOf('DELETE', at)).toBe(200)
  })

  it('cannot be changed by a member, and an outsider is not found', async () => {
    const member = await join('member')
    const at = `/members/${member.userId}`
    expect(await codeOf('PATCH', at, { role: 'admin' }, member.apiKey)).toBe('forbidden')
    expect(await codeOf('DELETE', at, undefined, member.apiKey)).toBe('forbidden')
    const stranger = await addPerson(server)
    for (const id of [stranger.userId, newUuid(), 'nonsense']) {
      expect(await codeOf('PATCH', `/members/${id}`, { role: 'admin' })).toBe('member_not_found')
      expect(await codeOf('DELETE', `/members/${id}`)).toBe('member_not_found')
    }
  })

  it('lose access to the organization when they are removed', async () => {
    const member = await join('member')
    const read = () => server.call('GET', path(), undefined, member.apiKey)
    expect((await read()).status).toBe(200)
    expect((await server.call('DELETE', path(`/members/${member.userId}`))).body.data).toEqual({
      removed: true,
    })
    expect((await read()).status).toBe(404)
  })

  it('leave by themselves in a session, except the last owner', async () => {
    const leave = async (cookie: string) => {
      const headers = { cookie, origin: server.config.apiUrl }
      const target = `/api/dashboard/organizations/${organization.id}/leave`
      const answer = await server.fetch(target, { method: 'POST', headers })
      return ((await answer.json()) as { code?: string }).code ?? answer.status
    }
    const { cookie, apiKey } = await join('member')
    expect(await leave(cookie)).toBe(200)
    expect(await codeOf('GET', '', undefined, apiKey)).toBe('organization_not_found')
    expect(await leave(cookie)).toBe('organization_not_found')
    expect(await leave((await server.signIn()).cookie)).toBe('cannot_remove_owner')
  })

  it('always include an owner', async () => {
    const own = `/members/${await adminUserId()}`
    for (const role of ['member', 'admin'])
      expect(await codeOf('PATCH', own, { role })).toBe('cannot_remove_owner')
    expect(await codeOf('DELETE', own)).toBe('cannot_remove_owner')
    expect(await codeOf('PATCH', own, { role: 'owner' })).toBe(200)
    const second = await join('owner')
    expect(await codeOf('PATCH', own, { role: 'member' })).toBe(200)
    expect(await codeOf('DELETE', `/members/${second.userId}`, undefined, second.apiKey)).toBe(
      'cannot_remove_owner',
    )
  })

  it('still include an owner when the last two step down concurrently', async () => {
    const [first, second] = [await adminUserId(), await join('owner')]
    const answers = await whileLocked(
      server.database,
      { lock: `select 1 from memberships where role = 'owner' for update`, waiting: 2 },
      () =>
        Promise.all([
          codeOf('PATCH', `/members/${first}`, { role: 'member' }),
          codeOf('DELETE', `/members/${second.userId}`, undefined, second.apiKey),
        ]),
    )
    const left = await server.database.db
      .selectFrom('memberships')
      .select('role')
      .where('organization_id', '=', organization.id)
      .where('role', '=', 'owner')
      .execute()
    expect(left).toHaveLength(1)
    expect(answers.sort()).toEqual([200, 'cannot_remove_owner'])
  })

  it('are authorized by their role under the lock, not by their role when the request arrived', async () => {
    const [owner, member] = [await join('owner'), await join('member')]
    // Both requests were authorized as owner. The first one removes the role of the second caller.
    const answers = await whileLocked(
      server.database,
      { lock: `select 1 from memberships where role = 'owner' for update`, waiting: 2 },
      async () => {
        const demoted = codeOf('PATCH', `/members/${owner.userId}`, { role: 'member' })
        await vi.waitFor(async () => expect(await waitingForLock()).toBe(1), { timeout: 60_000 })
        const promoted = codeOf('PATCH', `/members/${member.userId}`, { role: 'owner' }, owner.apiKey)
        return Promise.all([demoted, promoted])
      },
    )
    expect(answers).toEqual([200, 'forbidden'])
  })
})

const waitingForLock = async (): Promise<number> => {
  const result = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(server.database.db)
  return result.rows[0]!.n
}

describe('an organization', () => {
  it('changes name, slug and seats, and returns no role', async () => {
    const admin = await join('admin')
    const changed = await server.call(
      'PATCH',
      path(),
      { name: 'New', slug: `new-${organization.slug}`.slice(0, 40), seats: 3 },
      admin.apiKey,
    )
    const updated = routes.updateOrganization.response.parse(changed.body.data)
    expect(updated).toMatchObject({ name: 'New', seats: 3 })
    expect(updated).not.toHaveProperty('role')
    const member = await join('member')
    expect(await codeOf('PATCH', '', { name: 'X' }, member.apiKey)).toBe('forbidden')
    expect(await codeOf('PATCH', '', {})).toBe(200)
    expect(await codeOf('PATCH', '', { slug: 'default' })).toBe('slug_taken')
    expect(await codeOf('PATCH', '', { slug: updated.slug })).toBe(200)
  })

  it('keeps a seat for each member and pending invitation', async () => {
    await join('member')
    await server.call('POST', path('/members'), { email: 'guest@example.test' })
    const few = await server.call('PATCH', path(), { seats: 2 })
    expect([few.body.code, few.body.message]).toEqual([
      'validation_error',
      'seats: must be at least 3, the number of members and pending invitations',
    ])
    expect(await codeOf('PATCH', '', { seats: 3 })).toBe(200)
    expect(await codeOf('POST', '/members', { email: 'other@example.test' })).toBe('seats_exceeded')
  })

  it('gets a unique slug, even when many request the same one concurrently', async () => {
    const create = (body: object) => server.call('POST', '/v1/organizations', body)
    const derived = await Promise.all(Array.from({ length: 20 }, () => create({ name: 'Same name' })))
    const slugs = derived.map(({ body }) => (body.data as Organization).slug)
    expect(new Set(slugs).size).toBe(20)
    expect(slugs).toContain('same-name')
    const asked = await Promise.all(
      Array.from({ length: 20 }, () => create({ name: 'X', slug: 'only-once' })),
    )
    expect(asked.map(({ body, status }) => body.code ?? status).sort()).toEqual([
      201,
      ...Array.from({ length: 19 }, () => 'slug_taken'),
    ])
    const ids = (await Promise.all([create({ name: 'P' }), create({ name: 'Q' })])).map(
      ({ body }) => (body.data as Organization).id,
    )
    const renamed = await Promise.all(
      ids.map((id) => server.call('PATCH', `/v1/organizations/${id}`, { slug: 'wanted-by-two' })),
    )
    expect(renamed.map(({ body, status }) => body.code ?? status).sort()).toEqual([200, 'slug_taken'])
  })
})
