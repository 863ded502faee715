import { type Organization, routes, type Workspace } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane, whileLocked } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

let server: TestControlPlane
beforeAll(async () => {
  server = await startTestControlPlane()
})
afterAll(() => server.stop())

let organization: Organization
beforeEach(async () => {
  const made = await server.call('POST', '/v1/organizations', { name: 'Acme' })
  organization = routes.createOrganization.response.parse(made.body.data)
})
const path = () => `/v1/organizations/${organization.id}/workspaces`
const create = (body: object = { name: 'Second' }, key?: string) => server.call('POST', path(), body, key)
const made = async (body?: object): Promise<Workspace> =>
  routes.createWorkspace.response.parse((await create(body)).body.data)
const codeOf = async (method: string, at: string, body?: object, key?: string) => {
  const answer = await server.call(method, at, body, key)
  return answer.body.code ?? answer.status
}
const list = async (): Promise<Workspace[]> =>
  routes.listWorkspaces.response.parse((await server.call('GET', path())).body.data)

it('are created, read, renamed and deleted', async () => {
  const workspace = await made({ name: 'Daten & Mehr' })
  expect(workspace).toMatchObject({ organizationId: organization.id, slug: 'daten-mehr' })
  const at = `/v1/workspaces/${workspace.id}`
  expect((await server.call('GET', at)).body.data).toEqual(workspace)
  const renamed = await server.call('PATCH', at, { name: 'Data', slug: 'data' })
  expect(routes.updateWorkspace.response.parse(renamed.body.data)).toMatchObject({
    name: 'Data',
    slug: 'data',
  })
  expect((await list()).map(({ slug }) => slug)).toEqual(['default', 'data'])
  expect((await server.call('DELETE', at)).body.data).toEqual({ deleted: true })
  expect(await codeOf('GET', at)).toBe('workspace_not_found')
})

it('refuse a requested slug that is taken in the organization, and add a suffix to a derived one', async () => {
  expect((await create({ name: 'X', slug: 'default' })).body.code).toBe('slug_taken')
  expect((await made({ name: 'Default' })).slug).toMatch(/^default-[a-z2-7]{6}$/)
  const { id } = await made({ name: 'Mine' })
  expect(await codeOf('PATCH', `/v1/workspaces/${id}`, { slug: 'default' })).toBe('slug_taken')
  expect(await codeOf('PATCH', `/v1/workspaces/${id}`, {})).toBe(200)
})

it('are changed by admins, read by members, and hidden from outsiders', async () => {
  const workspace = await made()
  const at = `/v1/workspaces/${workspace.id}`
  const member = await addPerson(server, { role: 'member', organizationId: organization.id })
  expect(await codeOf('GET', at, undefined, member.apiKey)).toBe(200)
  expect(await codeOf('PATCH', at, { name: 'X' }, member.apiKey)).toBe('forbidden')
  expect(await codeOf('DELETE', at, undefined, member.apiKey)).toBe('forbidden')
  expect((await create({ name: 'X' }, member.apiKey)).body.code).toBe('forbidden')
  const stranger = await addPerson(server)
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { name: 'X' } : undefined
    const foreign = await server.call(method, at, body, stranger.apiKey)
    const absent = await server.call(method, `/v1/workspaces/${newUuid()}`, body, stranger.apiKey)
    expect([foreign.status, foreign.body]).toEqual([404, absent.body])
  }
})

it('keep the last workspace, even when the last two are deleted concurrently', async () => {
  const [first] = await list()
  const refused = await server.call('DELETE', `/v1/workspaces/${first!.id}`)
  expect([refused.body.code, refused.body.message]).toEqual([
    'validation_error',
    'An organization needs at least one workspace. Create another workspace before you delete this one.',
  ])
  await made()
  const workspaces = await list()
  const answers = await whileLocked(
    server.database,
    { lock: 'select 1 from workspaces for update', waiting: 2 },
    () => Promise.all(workspaces.map(({ id }) => codeOf('DELETE', `/v1/workspaces/${id}`))),
  )
  expect(answers.sort()).toEqual([200, 'validation_error'])
  expect(await list()).toHaveLength(1)
})

it('cannot be deleted while they contain a Dock, even an archived one', async () => {
  const { id } = await made()
  await sql`insert into docks (id, organization_id, workspace_id, name, image, cpus, memory_mib, disk_gib, runtime,
      state, state_changed_at, generation, environment, no_env, placed, has_disk, setup_status, created_by, created_at,
      updated_at)
    values (${newUuid()}, ${organization.id}, ${id}, 'd', 'debian-13', 1, 512, 1, 'gvisor', 'archived', now(), 1,
      'default', false, false, false, 'done', 'somebody', now(), now())`.execute(server.database.db)
  expect(await codeOf('DELETE', `/v1/workspaces/${id}`)).toBe('workspace_not_empty')
  await sql`delete from docks`.execute(server.database.db)
  expect(await codeOf('DELETE', `/v1/workspaces/${id}`)).toBe(200)
})
