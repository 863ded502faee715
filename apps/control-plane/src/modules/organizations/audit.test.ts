/** What the audit log tells of organizations, their members, invitations and workspaces. */
import { retentionConfirmation as confirmation } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import {
  addPerson,
  type Recorded,
  recordedDuring,
  startTestControlPlane,
  type TestControlPlane,
  type TestPerson,
} from '@dock/testkit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

let server: TestControlPlane
let owner: TestPerson
let organizationId: string
beforeAll(async () => {
  server = await startTestControlPlane()
})
afterAll(() => server.stop())
beforeEach(async () => {
  owner = await addPerson(server)
  organizationId = await idOf('POST', '/v1/organizations', { name: 'Acme', seats: 10 })
})

/** Sends a request with the person's session. */
const ask = async (method: string, path: string, body?: object, { cookie } = owner) => {
  const response = await server.fetch(path, {
    method,
    headers: { cookie, origin: server.config.apiUrl, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { code, data } = (await response.json()) as { code?: string; data: { id: string; link: string } }
  return { status: response.status, code, data }
}
const idOf = async (...request: Parameters<typeof ask>): Promise<string> => (await ask(...request)).data.id
const path = (rest = '') => `/v1/organizations/${organizationId}${rest}`
const join = (role: 'member' | 'admin' | 'owner') => addPerson(server, { role, organizationId })
const invitationId = async (): Promise<string> => {
  const { data } = await ask('GET', path('/invitations'))
  return (data as unknown as { id: string }[])[0]!.id
}
/** Returns what the request records, without what is the same in all of these tests. */
const recorded = async (...request: Parameters<typeof ask>) => {
  let status = 0
  const entries = await recordedDuring(server.database, async () => {
    status = (await ask(...request)).status
  })
  expect([status, entries.length]).toEqual([expect.toSatisfy((code) => code < 300), 1])
  const [{ action, actorId, through, target, details, ...entry }] = entries as [Recorded]
  expect(entry).toMatchObject({
    outcome: 'succeeded',
    organizationId: expect.any(String) as string,
    copies: [],
  })
  expect([actorId, through]).toEqual([(request[3] ?? owner).userId, 'session'])
  expect(entry.credentialId).toEqual(expect.any(String))
  return { action, target, details }
}
const nothing = async (code: string | undefined, ...request: Parameters<typeof ask>) => {
  const entries = await recordedDuring(server.database, async () =>
    expect((await ask(...request)).code).toBe(code),
  )
  expect(entries).toEqual([])
}

it('tells who created, changed and deleted an organization', async () => {
  const organization = { type: 'organization', id: organizationId, name: 'Acme' }
  const [made] = await recordedDuring(server.database, () =>
    ask('POST', '/v1/organizations', { name: 'New' }),
  )
  expect(made).toMatchObject({
    action: 'organization.created',
    actorId: owner.userId,
    target: { name: 'New' },
  })
  expect(made!.organizationId).toBe(made!.target!.id)
  expect(await recorded('PATCH', path(), { name: 'Acme Ltd', seats: 10 })).toEqual({
    action: 'organization.updated',
    target: { ...organization, name: 'Acme Ltd' },
    details: { name: 'Acme Ltd', nameBefore: 'Acme' },
  })
  const retention = `/v1/account/retention?organizationId=${organizationId}`
  expect(await recorded('PATCH', retention, { enabled: true, confirmation })).toEqual({
    action: 'organization.retention_changed',
    target: { ...organization, name: 'Acme Ltd' },
    details: { enabled: true },
  })
  await nothing(undefined, 'PATCH', retention, { enabled: true, confirmation })
  await nothing('confirm_required', 'PATCH', retention, { enabled: true })
  await nothing(undefined, 'PATCH', path(), { name: 'Acme Ltd' })
  await nothing('validation_error', 'PATCH', path(), { seats: 0 })
  expect(await recorded('DELETE', path())).toEqual({
    action: 'organization.deleted',
    target: { ...organization, name: 'Acme Ltd' },
    details: {},
  })
})

describe('of members it tells', () => {
  it('the old and the new role', async () => {
    const [admin, member] = [await join('admin'), await join('member')]
    const member_ = path(`/members/${member.userId}`)
    expect(await recorded('PATCH', member_, { role: 'admin' }, admin)).toEqual({
      action: 'member.role_changed',
      target: { type: 'person', id: member.userId, name: null },
      details: { from: 'member', to: 'admin' },
    })
    await nothing(undefined, 'PATCH', member_, { role: 'admin' })
    await nothing('forbidden', 'PATCH', member_, { role: 'owner' }, admin)
  })

  it('who was removed and who left', async () => {
    const [first, second] = [await join('member'), await join('admin')]
    expect(await recorded('DELETE', path(`/members/${first.userId}`))).toEqual({
      action: 'member.removed',
      target: { type: 'person', id: first.userId, name: null },
      details: { role: 'member' },
    })
    expect(await recorded('DELETE', path(`/members/${second.userId}`), undefined, second)).toEqual({
      action: 'member.left',
      target: { type: 'person', id: second.userId, name: null },
      details: { role: 'admin' },
    })
    await nothing('cannot_remove_owner', 'DELETE', path(`/members/${owner.userId}`))
    await nothing('member_not_found', 'DELETE', path(`/members/${first.userId}`))
  })
})

describe('of invitations it tells', () => {
  const email = () => `${newUuid()}@Example.test`
  const addressOf = (text: string) => ({ type: 'address', id: text.toLowerCase(), name: null })
  const invite = (address: string, role = 'admin') =>
    recorded('POST', path('/members'), { email: address, role })

  it('to whom they went, who made a link and who revoked them, and never a token', async () => {
    const address = email()
    const target = addressOf(address)
    const details = { role: 'admin' }
    expect(await invite(address)).toEqual({ action: 'invitation.sent', target, details })
    const id = await invitationId()
    const one = path(`/invitations/${id}`)
    expect(await recorded('POST', `${one}/resend`)).toEqual({ action: 'invitation.sent', target, details })
    const link = `/api/dashboard/organizations/${organizationId}/invitations/${id}/link`
    expect(await recorded('POST', link)).toEqual({ action: 'invitation.link_made', target, details })
    const token = (await ask('POST', link)).data.link.split('/').at(-1)!
    expect(await recorded('DELETE', one)).toEqual({ action: 'invitation.revoked', target, details })
    await nothing('invitation_not_found', 'DELETE', one)
    await nothing('invitation_not_found', 'POST', link)
    await nothing(undefined, 'POST', path('/members'), { email: owner.email })
    const { rows } = await server.database.connections.query('select e::text as row from audit_entries e')
    expect(token.length).toBeGreaterThan(20)
    expect(rows.filter(({ row }) => String(row).includes(token))).toEqual([])
  })

  it('who joined and who declined', async () => {
    const [joins, declines] = [await addPerson(server), await addPerson(server)]
    await invite(joins.email)
    expect(await recorded('POST', `/v1/me/invitations/${await invitationId()}/accept`, {}, joins)).toEqual({
      action: 'member.joined',
      target: { type: 'person', id: joins.userId, name: null },
      details: { role: 'admin' },
    })
    await invite(declines.email, 'member')
    const decline = `/v1/me/invitations/${await invitationId()}/decline`
    expect(await recorded('POST', decline, {}, declines)).toEqual({
      action: 'invitation.declined',
      target: addressOf(declines.email),
      details: { role: 'member' },
    })
    await nothing('invitation_not_found', 'POST', decline, {}, declines)
  })
})

it('tells who created, changed and deleted workspaces', async () => {
  const workspaces = `/v1/organizations/${organizationId}/workspaces`
  const made = await recorded('POST', workspaces, { name: 'Lab' })
  const target = { type: 'workspace', id: made.target!.id, name: 'Lab' }
  expect(made).toEqual({ action: 'workspace.created', target, details: {} })
  const one = `/v1/workspaces/${target.id}`
  expect(await recorded('PATCH', one, { name: 'Den' })).toEqual({
    action: 'workspace.updated',
    target: { ...target, name: 'Den' },
    details: { name: 'Den', nameBefore: 'Lab' },
  })
  await nothing(undefined, 'PATCH', one, { name: 'Den' })
  await nothing('slug_taken', 'PATCH', one, { slug: 'default' })
  await nothing('forbidden', 'DELETE', one, undefined, await join('member'))
  expect(await recorded('DELETE', one)).toEqual({
    action: 'workspace.deleted',
    target: { ...target, name: 'Den' },
    details: {},
  })
  await nothing('workspace_not_found', 'DELETE', one)
})
