import { routes } from '@dock/contract'
import { systemClock } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane, type TestPerson } from '@dock/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setLimits } from './index.ts'

let server: TestControlPlane
beforeAll(async () => {
  server = await startTestControlPlane({
    environment: { DOCK_LIMIT_DOCKS: '7', DOCK_LIMIT_ORGANIZATIONS: '4' },
    limits: { environments: 3, repositories: 1, workspaces: 3 },
  })
})
afterAll(() => server.stop())

const addMember = (person: TestPerson, organizationId: string) =>
  server.database.db
    .insertInto('memberships')
    .values({ organization_id: organizationId, user_id: person.userId, role: 'member' })
    .execute()

const environment = (name: string, organizationId = server.admin.organizationId) =>
  server.call('POST', '/v1/environments', { organizationId, name })

it('shows members the limits and the usage, and lets only instance admins set limits', async () => {
  const { organizationId } = server.admin
  const member = await addPerson(server, { role: 'owner', organizationId })
  const path = `/v1/organizations/${organizationId}/limits`
  const read = await server.call('GET', path, undefined, member.apiKey)
  const shown = routes.readOrganizationLimits.response.parse(read.body.data)
  expect(shown.limits).toMatchObject({ docks: 7, environments: 3, workspaces: 3, cpus: 400 })
  expect(shown.usage).toMatchObject({
    docks: 0,
    environments: 1,
    repositories: 0,
    workspaces: 1,
    storedGiB: 0,
  })
  const refused = await server.call('PATCH', path, { docks: 9 }, member.apiKey)
  expect(refused.body.code).toBe('instance_admin_required')
  const changed = await server.call('PATCH', path, { docks: 9 })
  expect(routes.changeOrganizationLimits.response.parse(changed.body.data).limits.docks).toBe(9)
})

it('refuses an Environment above the limit, even for concurrent requests, and lets an operator raise it', async () => {
  const answers = await Promise.all(['one', 'two', 'three', 'four', 'five'].map((name) => environment(name)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409])
  const [refused] = answers.filter(({ status }) => status === 409)
  expect(refused!.body).toMatchObject({
    code: 'conflict',
    message:
      "The organization may have 3 Environments. Delete one, or ask the instance's operator to raise the limit.",
  })
  const operator = { db: server.database.db, clock: systemClock }
  const { organizationId } = server.admin
  expect(await setLimits(operator, organizationId, ['environments=4'])).toContain(
    'environments          3 of 4',
  )
  expect((await environment('six')).status).toBe(201)
  expect(await setLimits(operator, organizationId, ['environments=default'])).toContain('of the default')
  await expect(setLimits(operator, organizationId, ['people=4'])).rejects.toThrow(
    'people=4: must be NAME=NUMBER',
  )
  await expect(setLimits(operator, 'nobody', [])).rejects.toThrow('no organization')
})

it('refuses a workspace above the limit, even for concurrent requests, until one is deleted', async () => {
  const { organizationId } = server.admin
  const path = `/v1/organizations/${organizationId}/workspaces`
  const make = (name: string) => server.call('POST', path, { name })
  const answers = await Promise.all(['one', 'two', 'three', 'four', 'five'].map(make))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409])
  const refused = answers.find(({ status }) => status === 409)
  expect(refused!.body).toMatchObject({
    code: 'conflict',
    message:
      "The organization may have 3 workspaces. Delete one, or ask the instance's operator to raise the limit.",
  })
  expect((await server.call('GET', path)).body.data).toHaveLength(3)
  const { id } = answers.find(({ status }) => status === 201)!.body.data as { id: string }
  expect((await server.call('DELETE', `/v1/workspaces/${id}`)).status).toBe(200)
  expect((await make('six')).status).toBe(201)
  expect((await make('seven')).status).toBe(409)
  expect(
    await setLimits({ db: server.database.db, clock: systemClock }, organizationId, ['workspaces=4']),
  ).toContain('3 of 4')
  expect((await make('seven')).status).toBe(201)
})

it('refuses a repository above the limit of an Environment', async () => {
  const { organizationId } = server.admin
  const add = (id: string) =>
    server.call('POST', `/v1/environments/default/repos?organizationId=${organizationId}`, {
      provider: 'github',
      repositoryId: id,
      fullName: `owner/name-${id}`,
    })
  expect((await add('1')).status).toBeLessThan(300)
  expect((await add('2')).body).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('1 repositories'),
  })
})

describe('a user', () => {
  const makeOwn = (person: TestPerson, name: string) =>
    server.call('POST', '/v1/organizations', { name }, person.apiKey)
  const made = async (person: TestPerson, count: number): Promise<string[]> => {
    const answers = []
    for (let index = 0; index < count; index++) answers.push(await makeOwn(person, `Organization ${index}`))
    expect(answers.map(({ status }) => status)).toEqual(Array(count).fill(201))
    return answers.map(({ body }) => (body.data as { id: string }).id)
  }
  const setRole = (by: TestPerson, organizationId: string, { userId }: TestPerson, role: string) =>
    server.call('PATCH', `/v1/organizations/${organizationId}/members/${userId}`, { role }, by.apiKey)

  it('cannot own more organizations than the limit, even with concurrent requests', async () => {
    const person = await addPerson(server)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => makeOwn(person, `Racer ${index}`)),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
    expect((await makeOwn(person, 'One more')).body).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('may own 4 organizations'),
    })
  })

  it('cannot create more organizations by handing some over, but may take those back', async () => {
    const [maker, heir] = [await addPerson(server), await addPerson(server)]
    const [first, second] = await made(maker, 4)
    for (const organizationId of [first!, second!]) {
      await addMember(heir, organizationId)
      expect((await setRole(maker, organizationId, heir, 'owner')).status).toBe(200)
      expect((await setRole(heir, organizationId, maker, 'member')).status).toBe(200)
    }
    expect((await makeOwn(maker, 'One more')).body.code).toBe('conflict')
    expect((await setRole(heir, first!, maker, 'owner')).status).toBe(200)
    // Organizations that the heir took over count towards the heir's limit.
    await made(heir, 2)
    expect((await makeOwn(heir, 'One more')).body.code).toBe('conflict')
    expect(await server.call('DELETE', `/v1/organizations/${second}`, undefined, heir.apiKey)).toMatchObject({
      status: 200,
    })
    expect((await makeOwn(maker, 'One more')).status).toBe(201)
  })

  it('cannot exceed the limit by a change of role or an invitation', async () => {
    const [full, friend] = [await addPerson(server), await addPerson(server)]
    await made(full, 4)
    const [organizationId] = await made(friend, 1)
    await addMember(full, organizationId!)
    expect((await setRole(friend, organizationId!, full, 'owner')).body).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('already owns or created 4 other organizations'),
    })
    expect((await setRole(friend, organizationId!, full, 'admin')).status).toBe(200)

    const [another] = await made(friend, 1)
    const invite = (role: string) =>
      server.call('POST', `/v1/organizations/${another}/members`, { email: full.email, role }, friend.apiKey)
    expect((await invite('owner')).status).toBe(201)
    const accept = async () => {
      const own = await server.call('GET', '/v1/me/invitations', undefined, full.apiKey)
      const [invitation] = own.body.data as { id: string }[]
      return server.call('POST', `/v1/me/invitations/${invitation!.id}/accept`, {}, full.apiKey)
    }
    expect((await accept()).body.code).toBe('conflict')
    expect((await invite('admin')).status).toBe(201)
    expect((await accept()).body.data).toMatchObject({ role: 'admin' })
  })
})
