import { type Organization, routes } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findMembership, findWorkspaceMembership } from './find-membership.ts'
import { slugFromName } from './organization-slug.ts'

let server: TestControlPlane
beforeAll(async () => {
  server = await startTestControlPlane()
})
afterAll(() => server.stop())

const create = (body: object) => server.call('POST', '/v1/organizations', body)

describe('an organization', () => {
  it('starts with an owner, a workspace and an empty Environment at version 1', async () => {
    const answer = await create({ name: 'Acme & Söhne' })
    expect(answer.status).toBe(201)
    const organization: Organization = routes.createOrganization.response.parse(answer.body.data)
    expect(organization).toMatchObject({ slug: 'acme-sohne', seats: 5, role: 'owner' })
    const workspaces = await server.call('GET', `/v1/organizations/${organization.id}/workspaces`)
    expect(routes.listWorkspaces.response.parse(workspaces.body.data)).toHaveLength(1)
    const environments = await server.database.db
      .selectFrom('environments')
      .innerJoin('environment_versions', 'environment_versions.environment_id', 'environments.id')
      .where('environments.organization_id', '=', organization.id)
      .select(['name', 'is_default', 'current_version', 'version', 'pass_secrets', 'pass_github'])
      .select(['safe_for_third_parties', 'pass_dock_credentials', 'pass_agents_credentials'])
      .execute()
    expect(environments).toEqual([
      {
        name: 'default',
        is_default: true,
        current_version: 1,
        version: 1,
        pass_secrets: true,
        pass_github: true,
        safe_for_third_parties: false,
        pass_dock_credentials: false,
        pass_agents_credentials: false,
      },
    ])
  })

  it('refuses a requested slug that is taken, and adds a suffix to a derived one', async () => {
    expect((await create({ name: 'One', slug: 'taken' })).status).toBe(201)
    expect((await create({ name: 'Two', slug: 'taken' })).body.code).toBe('slug_taken')
    const derived = await create({ name: 'Taken' })
    expect((derived.body.data as Organization).slug).toMatch(/^taken-[a-z2-7]{6}$/)
  })

  it('is hidden from outsiders', async () => {
    const id = newUuid()
    await server.database.db
      .insertInto('organizations')
      .values({ id, name: 'Foreign', slug: 'foreign' })
      .execute()
    for (const path of [`/v1/organizations/${id}`, `/v1/organizations/${id}/workspaces`]) {
      const foreign = await server.call('GET', path)
      const absent = await server.call('GET', path.replace(id, newUuid()))
      expect([foreign.status, foreign.body.code]).toEqual([404, 'organization_not_found'])
      expect(foreign.body).toEqual(absent.body)
    }
    const listed = await server.call('GET', '/v1/organizations')
    expect(JSON.stringify(listed.body.data)).not.toContain(id)
  })

  it('finds a membership by the id of the organization or of a workspace', async () => {
    const { db } = server.database
    const { organizationId, workspaceId } = server.admin
    const { id: userId } = (await server.call('GET', '/v1/me')).body.data as { id: string }
    const owner = { organizationId, role: 'owner' }
    expect(await findMembership(db, userId, organizationId)).toEqual(owner)
    expect(await findWorkspaceMembership(db, userId, workspaceId)).toEqual(owner)
    for (const [user, organization, workspace] of [
      [newUuid(), organizationId, workspaceId],
      [userId, newUuid(), newUuid()],
    ] as const) {
      expect(await findMembership(db, user, organization)).toBeUndefined()
      expect(await findWorkspaceMembership(db, user, workspace)).toBeUndefined()
    }
  })
})

describe('slugFromName', () => {
  it.each([
    ['Hello,  World!', /^hello-world$/],
    ['é', /^e-[a-z2-7]{6}$/],
    ['日本', /^org-[a-z2-7]{6}$/],
    ['x'.repeat(100), /^x{63}$/],
  ])('derives a slug from %s', (name, slug) => {
    expect(slugFromName(name)).toMatch(slug)
  })
})
