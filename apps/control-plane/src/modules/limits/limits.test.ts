import { routes } from '@dock/contract'
import { addPerson, type TestControlPlane, testControlPlane } from '@dock/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { setLimits } from './index.ts'

let server: TestControlPlane
beforeAll(async () => {
  server = await testControlPlane({
    environment: {
      DOCK_LIMIT_DOCKS: '7',
      DOCK_LIMIT_ENVIRONMENTS: '3',
      DOCK_LIMIT_REPOSITORIES: '1',
      DOCK_LIMIT_ORGANIZATIONS: '4',
    },
  })
})
afterAll(() => server.stop())

const environment = (name: string, organizationId = server.admin.organizationId) =>
  server.call('POST', '/v1/environments', { organizationId, name })

it('shows members the limits and their use, and lets only instance admins set them', async () => {
  const { organizationId } = server.admin
  const member = await addPerson(server, { role: 'owner', organizationId })
  const path = `/v1/organizations/${organizationId}/limits`
  const read = await server.call('GET', path, undefined, member.apiKey)
  const shown = routes.readOrganizationLimits.response.parse(read.body.data)
  expect(shown.limits).toMatchObject({ docks: 7, environments: 3, cpus: 400 })
  expect(shown.usage).toMatchObject({ docks: 0, environments: 1, repositories: 0, storedGiB: 0 })
  const refused = await server.call('PATCH', path, { docks: 9 }, member.apiKey)
  expect(refused.body.code).toBe('instance_admin_required')
  const changed = await server.call('PATCH', path, { docks: 9 })
  expect(routes.changeOrganizationLimits.response.parse(changed.body.data).limits.docks).toBe(9)
})

it('refuses one Environment more, with racers too, and lets an operator raise the limit', async () => {
  const answers = await Promise.all(['one', 'two', 'three', 'four', 'five'].map((name) => environment(name)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 409, 409, 409])
  const [refused] = answers.filter(({ status }) => status === 409)
  expect(refused!.body).toMatchObject({
    code: 'conflict',
    message:
      "The organization may have 3 Environments. Delete one, or ask the instance's operator to raise the limit.",
  })
  const { db } = server.database
  const { organizationId } = server.admin
  expect(await setLimits(db, organizationId, ['environments=4'])).toContain('environments          3 of 4')
  expect((await environment('six')).status).toBe(201)
  expect(await setLimits(db, organizationId, ['environments=default'])).toContain('of the default')
  await expect(setLimits(db, organizationId, ['people=4'])).rejects.toThrow('people=4: must be NAME=NUMBER')
  await expect(setLimits(db, 'nobody', [])).rejects.toThrow('no organization')
})

it('refuses one repository more than an Environment may have', async () => {
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

it('lets one person own only so many organizations', async () => {
  const person = await addPerson(server)
  const create = (name: string) => server.call('POST', '/v1/organizations', { name }, person.apiKey)
  const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => create(`Organization ${index}`)))
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
  expect((await create('One more')).body).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('may own 4 organizations'),
  })
})
