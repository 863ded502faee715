import { readdir, readFile } from 'node:fs/promises'
import { join as joinPath } from 'node:path'
import { type Invitation, type Organization, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'

let server: TestControlPlane
beforeAll(async () => {
  server = await startTestControlPlane()
})
afterAll(() => server.stop())

let organization: Organization
let address: string
beforeEach(async () => {
  const made = await server.call('POST', '/v1/organizations', { name: 'Acme', seats: 3 })
  organization = routes.createOrganization.response.parse(made.body.data)
  address = `${newUuid()}@example.test`
})
const path = (rest = '') => `/v1/organizations/${organization.id}${rest}`
const invite = (body: object = {}, key?: string) =>
  server.call('POST', path('/members'), { email: address, ...body }, key)
const list = async (): Promise<Invitation[]> =>
  routes.listInvitations.response.parse((await server.call('GET', path('/invitations'))).body.data)
const answerOf = async (call: ReturnType<TestControlPlane['call']>) => {
  const { body, status } = await call
  return body.code ?? status
}
const expireAll = () =>
  sql`update invitations set expires_at = now() - interval '1 second'`.execute(server.database.db)

/** Waits for `count` mails to an address and returns their tokens, oldest mail first. */
const tokensFor = (recipient: string, count: number): Promise<string[]> =>
  vi.waitFor(
    async () => {
      const folder = joinPath(server.config.controlDir, 'outbox')
      const mails = await Promise.all(
        (await readdir(folder)).map((name) => readFile(joinPath(folder, name), 'utf8')),
      )
      const saved = await server.database.db
        .selectFrom('outbox_mails')
        .select('id')
        .where('recipient', '=', recipient)
        .orderBy('created_at')
        .execute()
      const tokens = saved.flatMap(({ id }) => {
        const text = mails.find((mail) => mail.includes(id))?.replace(/=\r?\n/g, '')
        return /invitations\/([A-Za-z0-9_-]{43})/.exec(text ?? '')?.[1] ?? []
      })
      expect(tokens).toHaveLength(count)
      return tokens
    },
    { timeout: 60_000 },
  )

describe('an invitation', () => {
  it('is mailed and listed, and accepting it makes the user a member with its role', async () => {
    const answer = await invite({ role: 'admin' })
    expect([answer.status, answer.body.data]).toEqual([201, { status: 'accepted' }])
    const [listed] = await list()
    expect(listed).toMatchObject({ email: address, role: 'admin' })
    expect(Date.parse(listed!.expiresAt) - Date.parse(listed!.createdAt)).toBe(7 * 24 * 3_600_000)
    const [token] = await tokensFor(address, 1)
    const stored = await sql<{ text: string }>`select i::text as text from invitations i`.execute(
      server.database.db,
    )
    expect(JSON.stringify(stored.rows)).not.toContain(token)

    const invited = await addPerson(server, { email: address })
    const preview = await server.call('GET', `/v1/invitations/${token}`, undefined, invited.apiKey)
    expect(preview.headers.get('cache-control')).toBe('no-store')
    expect(routes.readInvitation.response.parse(preview.body.data)).toEqual({
      id: listed!.id,
      organizationName: 'Acme',
      role: 'admin',
      expiresAt: listed!.expiresAt,
    })
    const accepted = await server.call('POST', `/v1/invitations/${token}/accept`, undefined, invited.apiKey)
    expect(accepted.body.data).toEqual({ organizationId: organization.id, role: 'admin' })
    expect(await answerOf(server.call('GET', path('/invitations'), undefined, invited.apiKey))).toBe(200)
    expect(await list()).toEqual([])
    expect(
      await answerOf(server.call('POST', `/v1/invitations/${token}/accept`, undefined, invited.apiKey)),
    ).toBe('invitation_not_found')
  })

  it('can be accepted or declined from the invited user’s own list', async () => {
    await invite()
    const invited = await addPerson(server, { email: address })
    const own = async () =>
      routes.listOwnInvitations.response.parse(
        (await server.call('GET', '/v1/me/invitations', undefined, invited.apiKey)).body.data,
      )
    const [first] = await own()
    const declined = await server.call(
      'POST',
      `/v1/me/invitations/${first!.id}/decline`,
      undefined,
      invited.apiKey,
    )
    expect(declined.body.data).toEqual({ declined: true })
    expect([await own(), await list()]).toEqual([[], []])
    await invite()
    const [second] = await own()
    const accepted = await server.call(
      'POST',
      `/v1/me/invitations/${second!.id}/accept`,
      undefined,
      invited.apiKey,
    )
    expect(accepted.body.data).toEqual({ organizationId: organization.id, role: 'member' })
  })

  it('is visible only to the verified owner of its address', async () => {
    await invite()
    const [token] = await tokensFor(address, 1)
    const [{ id } = { id: '' }] = await list()
    const stranger = await addPerson(server)
    const unverified = await addPerson(server, { email: address, emailVerified: false })
    for (const { apiKey } of [stranger, unverified]) {
      const own = await server.call('GET', '/v1/me/invitations', undefined, apiKey)
      expect(own.body.data).toEqual([])
      for (const [method, at] of [
        ['GET', `/v1/invitations/${token}`],
        ['POST', `/v1/invitations/${token}/accept`],
        ['POST', `/v1/invitations/${token}/decline`],
        ['POST', `/v1/me/invitations/${id}/accept`],
        ['POST', `/v1/me/invitations/${id}/decline`],
      ] as const)
        expect([at, await answerOf(server.call(method, at, undefined, apiKey))]).toEqual([
          at,
          'invitation_not_found',
        ])
    }
    await server.database.db
      .updateTable('users')
      .set({ email_verified: true })
      .where('id', '=', unverified.userId)
      .execute()
    expect(await answerOf(server.call('GET', `/v1/invitations/${token}`, undefined, unverified.apiKey))).toBe(
      200,
    )
  })

  it('ignores the case of the address', async () => {
    await invite({ email: address.toUpperCase() })
    const invited = await addPerson(server, { email: address })
    const own = await server.call('GET', '/v1/me/invitations', undefined, invited.apiKey)
    expect(own.body.data).toHaveLength(1)
  })

  it('gets a new link and expiry when it is resent, and the old link stops working', async () => {
    await invite()
    const [before] = await list()
    await expireAll()
    const invited = await addPerson(server, { email: address })
    const [old] = await tokensFor(address, 1)
    const read = (token: string | undefined) =>
      answerOf(server.call('GET', `/v1/invitations/${token}`, undefined, invited.apiKey))
    expect(await read(old)).toBe('invitation_not_found')
    expect((await list()).map(({ id }) => id)).toEqual([before!.id])
    const resent = await server.call('POST', path(`/invitations/${before!.id}/resend`))
    expect(routes.resendInvitation.response.parse(resent.body.data)).toMatchObject({ id: before!.id })
    const [, fresh] = await tokensFor(address, 2)
    expect([await read(old), await read(fresh)]).toEqual(['invitation_not_found', 200])
  })

  it('is handed over without mail by its link, for a session only; the mailed link stops working', async () => {
    await invite()
    const [mailed] = await tokensFor(address, 1)
    const [{ id } = { id: '' }] = await list()
    const target = `/api/dashboard/organizations/${organization.id}/invitations/${id}/link`
    expect(await answerOf(server.call('POST', target))).toBe('session_required')
    const headers = await server.signIn()
    const answer = await server.fetch(target, { method: 'POST', headers })
    const { data } = (await answer.json()) as { data: unknown }
    const { link, email } = routes.linkInvitation.response.parse(data)
    expect([email, answer.headers.get('cache-control')]).toEqual([address, 'no-store'])
    expect(link.startsWith(`${server.config.appUrl}/invitations/`)).toBe(true)
    const person = await addPerson(server, { email: address })
    const readAs = (token: string | undefined) =>
      answerOf(server.call('GET', `/v1/invitations/${token}`, undefined, person.apiKey))
    expect([await readAs(mailed), await readAs(link.split('/').at(-1))]).toEqual([
      'invitation_not_found',
      200,
    ])
  })

  it('tells the holder of its link who invites to what, and nothing else', async () => {
    const { db } = server.database
    await invite({ role: 'admin' })
    const [token] = await tokensFor(address, 1)
    const greet = (of: string | undefined) => server.fetch(`/api/dashboard/invitations/${of}/greeting`)
    const answer = await greet(token)
    const { data } = (await answer.json()) as { data: unknown }
    const admin = await db
      .selectFrom('users')
      .select(['id', 'name'])
      .where('email', '=', server.admin.email)
      .executeTakeFirstOrThrow()
    const [listed] = await list()
    expect(routes.readInvitationGreeting.response.parse(data)).toEqual({
      organizationName: 'Acme',
      invitedBy: admin.name,
      role: 'admin',
      expiresAt: listed!.expiresAt,
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')

    // The person who invited last is named. An erased one is not.
    const other = await addPerson(server, { role: 'admin', organizationId: organization.id })
    await invite({}, other.apiKey)
    const [, fresh] = await tokensFor(address, 2)
    expect((await greet(token)).status).toBe(404)
    const invitedBy = async () =>
      ((await (await greet(fresh)).json()) as { data: { invitedBy: string | null } }).data.invitedBy
    expect(await invitedBy()).toBe('Somebody')
    await db.deleteFrom('users').where('id', '=', other.userId).execute()
    expect(await invitedBy()).toBeNull()

    await expireAll()
    const unknown = await greet('a'.repeat(43))
    const [over, none] = [await greet(fresh), ((await unknown.json()) as { code: string }).code]
    expect([over.status, unknown.status, none]).toEqual([404, 404, 'invitation_not_found'])
  })

  it('disappears when it is revoked, and its link stops working', async () => {
    await invite()
    const [{ id } = { id: '' }] = await list()
    const [token] = await tokensFor(address, 1)
    const revoked = await server.call('DELETE', path(`/invitations/${id}`))
    expect(revoked.body.data).toEqual({ revoked: true })
    const invited = await addPerson(server, { email: address })
    expect(await answerOf(server.call('GET', `/v1/invitations/${token}`, undefined, invited.apiKey))).toBe(
      'invitation_not_found',
    )
    for (const wrong of [id, newUuid(), 'nonsense']) {
      expect(await answerOf(server.call('DELETE', path(`/invitations/${wrong}`)))).toBe(
        'invitation_not_found',
      )
      expect(await answerOf(server.call('POST', path(`/invitations/${wrong}/resend`)))).toBe(
        'invitation_not_found',
      )
    }
  })

  it('returns the same response for unknown, known, member and invited addresses', async () => {
    const person = await addPerson(server)
    const member = await addPerson(server, { role: 'member', organizationId: organization.id })
    await server.call('PATCH', path(), { seats: 50 })
    const answers = []
    for (const email of [address, person.email, member.email, server.admin.email, address])
      answers.push((await invite({ email })).body)
    expect(new Set(answers.map((body) => JSON.stringify(body))).size).toBe(1)
    expect((await list()).map(({ email }) => email).sort()).toEqual([address, person.email].sort())
  })

  it('refuses a member’s address at full seats like any other', async () => {
    const member = await addPerson(server, { role: 'member', organizationId: organization.id })
    expect(await answerOf(invite())).toBe(201)
    const answers = []
    for (const email of [member.email, server.admin.email, `other-${address}`, address])
      answers.push(await answerOf(invite({ email })))
    // The last is invited already and needs no further seat.
    expect(answers).toEqual(['seats_exceeded', 'seats_exceeded', 'seats_exceeded', 201])
  })

  it('by id reaches only people whose address the inviter can read already', async () => {
    await server.call('PATCH', path(), { seats: 50 })
    const [stranger, colleague] = [await addPerson(server), await addPerson(server)]
    const byId = (userId: string, key?: string) => invite({ email: undefined, userId }, key)
    const unknown = await byId(newUuid())
    const refused = await byId(stranger.userId)
    expect([refused.status, refused.body]).toEqual([404, unknown.body])
    expect(refused.body.code).toBe('user_not_found')

    const shared = await server.call('POST', '/v1/organizations', { name: 'Shared', seats: 5 })
    const { id: organizationId } = routes.createOrganization.response.parse(shared.body.data)
    const now = new Date()
    await server.database.db
      .insertInto('memberships')
      .values({ organization_id: organizationId, user_id: colleague.userId, role: 'member', created_at: now })
      .execute()
    expect(await answerOf(byId(colleague.userId))).toBe(201)
    expect((await list()).map(({ email }) => email)).toEqual([colleague.email])
    // Another admin of this organization does not share one with the person.
    const admin = await addPerson(server, { role: 'admin', organizationId: organization.id })
    expect(await answerOf(byId(colleague.userId, admin.apiKey))).toBe('user_not_found')

    expect(await answerOf(server.call('DELETE', `/v1/organizations/${organizationId}`))).toBe(200)
    expect(await answerOf(byId(colleague.userId))).toBe('user_not_found')
  })

  it('makes room for itself by the oldest expired one, and is refused if all are open', async () => {
    const { db } = server.database
    await server.call('PATCH', path(), { seats: 2000 })
    await sql`insert into invitations (id, organization_id, email, role, token_hash, expires_at, created_at)
      select gen_random_uuid(), ${organization.id}::uuid, n || '@many.test', 'member', sha256(gen_random_uuid()::text::bytea),
        now() + make_interval(mins => n), now() from generate_series(1, 1000) as n`.execute(db)
    expect((await invite()).body).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('may have 1000 open invitations'),
    })
    await sql`update invitations set expires_at = now() - make_interval(mins => 10 - left(email, 1)::int)
      where email in ('1@many.test', '2@many.test')`.execute(db)
    expect(await answerOf(invite())).toBe(201)
    const emails = (await list()).map(({ email }) => email)
    expect(emails).toHaveLength(1000)
    expect(emails).toEqual(expect.arrayContaining([address, '2@many.test']))
    expect(emails).not.toContain('1@many.test')
  })

  it('with the role owner is sent, resent and replaced by owners only', async () => {
    const admin = await addPerson(server, { role: 'admin', organizationId: organization.id })
    expect(await answerOf(invite({ role: 'owner' }, admin.apiKey))).toBe('forbidden')
    expect(await answerOf(invite({ role: 'owner' }))).toBe(201)
    const [{ id } = { id: '' }] = await list()
    const resend = (key?: string) =>
      answerOf(server.call('POST', path(`/invitations/${id}/resend`), undefined, key))
    expect([await resend(admin.apiKey), await resend()]).toEqual(['forbidden', 200])
    expect(await answerOf(invite({ role: 'member' }, admin.apiKey))).toBe('forbidden')
    expect(await answerOf(invite({ role: 'member' }))).toBe(201)
    expect(await list()).toMatchObject([{ id, role: 'member' }])
  })

  it('lets only its address sign up, until it is revoked', async () => {
    const signUp = async (email: string, invitationToken: string): Promise<number> => {
      const response = await server.fetch('/api/auth/sign-up/email', {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: server.config.apiUrl },
        body: JSON.stringify({ email, password: 'a long password', name: 'A Person', invitationToken }),
      })
      return response.status
    }
    await invite()
    await invite({ email: `revoked-${address}` })
    const [token] = await tokensFor(address, 1)
    const [revokedToken] = await tokensFor(`revoked-${address}`, 1)
    const revoked = (await list()).find(({ email }) => email.startsWith('revoked-'))
    await server.call('DELETE', path(`/invitations/${revoked?.id}`))
    expect(await signUp(`revoked-${address}`, revokedToken!)).toBe(403)
    expect(await signUp(address, revokedToken!)).toBe(403)
    expect(await signUp(`other-${address}`, token!)).toBe(403)
    expect(await signUp(address, token!)).toBe(200)
  })

  it('is rate limited per sender', async () => {
    const admin = await addPerson(server, { role: 'admin', organizationId: organization.id })
    const answers = []
    for (let n = 0; n < 101; n += 1) answers.push(await answerOf(invite({}, admin.apiKey)))
    expect(answers).toEqual([...Array.from({ length: 100 }, () => 201), 'rate_limited'])
    expect(await answerOf(invite())).toBe(201)
  })

  it('requires exactly one of an address and an existing user', async () => {
    const codes = []
    for (const body of [
      { email: undefined },
      { userId: newUuid() },
      { email: 'no address' },
      { email: undefined, userId: newUuid() },
    ])
      codes.push(await answerOf(invite(body)))
    expect(codes).toEqual(['validation_error', 'validation_error', 'validation_error', 'user_not_found'])
  })
})

describe('seats', () => {
  it('are not exceeded by concurrent invitations', async () => {
    const racers = Array.from({ length: 12 }, (_, n) => answerOf(invite({ email: `${n}-${address}` })))
    const answers = await Promise.all(racers)
    expect(answers.filter((answer) => answer === 201)).toHaveLength(2)
    expect(answers.filter((answer) => answer === 'seats_exceeded')).toHaveLength(10)
    expect(await list()).toHaveLength(2)
  })

  it('are freed by an expired invitation, which needs a free seat to be resent', async () => {
    const other = (n: number) => answerOf(invite({ email: `${n}-${address}` }))
    expect([await other(1), await other(2), await other(3)]).toEqual([201, 201, 'seats_exceeded'])
    await expireAll()
    expect([await other(3), await other(4), await other(5)]).toEqual([201, 201, 'seats_exceeded'])
    const expired = (await list()).find(({ email }) => email.startsWith('1-'))
    expect(await answerOf(server.call('POST', path(`/invitations/${expired?.id}/resend`)))).toBe(
      'seats_exceeded',
    )
    expect(await other(2)).toBe('seats_exceeded')
    const pending = (await list()).find(({ email }) => email.startsWith('3-'))
    expect(await answerOf(server.call('POST', path(`/invitations/${pending?.id}/resend`)))).toBe(200)
  })

  it('are used once when an invitation is accepted a hundred times concurrently', async () => {
    await invite()
    const [token] = await tokensFor(address, 1)
    const invited = await addPerson(server, { email: address })
    const [{ id } = { id: '' }] = await list()
    const paths = [`/v1/invitations/${token}/accept`, `/v1/me/invitations/${id}/accept`]
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) =>
        answerOf(server.call('POST', paths[n % 2]!, undefined, invited.apiKey)),
      ),
    )
    expect(answers.filter((answer) => answer === 200)).toHaveLength(1)
    expect(answers.filter((answer) => answer === 'invitation_not_found')).toHaveLength(99)
    const members = await server.call('GET', path('/members'))
    expect(members.body.data).toHaveLength(2)
  })
})
