/**
 * Creates the resources that path parameters name. The key is the path up to the parameter; the function creates the
 * resource in a tenant and returns its id. Personal resources belong to the owner. A test fails if a row is missing.
 */
import { createHash, randomBytes } from 'node:crypto'
import { newUuid } from '@dock/foundation'
import { addPerson, type TestControlPlane } from '@dock/testkit'
import { sql } from 'kysely'
import { ask, type Tenant } from './tenant.ts'

type Make = (server: TestControlPlane, tenant: Tenant) => string | Promise<string>

const asOwner = <Data>(
  server: TestControlPlane,
  { owner }: Tenant,
  method: string,
  path: string,
  body?: unknown,
) => ask<Data>(server, owner, method, path, body)

const inviteSomebody: Make = async (server, tenant) => {
  const path = `/v1/organizations/${tenant.organizationId}`
  await asOwner(server, tenant, 'POST', `${path}/members`, { email: `${newUuid()}@example.test` })
  const [invitation] = await asOwner<[{ id: string }]>(server, tenant, 'GET', `${path}/invitations`)
  return invitation.id
}

export const resources: Readonly<Record<string, Make>> = {
  '/v1/docks/:id': (_, { dockId }) => dockId,
  '/api/dashboard/docks/:id': (_, { dockId }) => dockId,
  '/v1/organizations/:id': (_, { organizationId }) => organizationId,
  '/v1/organizations/:id/members/:userId': (_, { member }) => member.userId,
  '/v1/organizations/:orgId': (_, { organizationId }) => organizationId,
  '/v1/workspaces/:id': (_, { workspaceId }) => workspaceId,
  '/v1/environments/:ref': (_, { environmentId }) => environmentId,
  '/api/dashboard/environments/:ref': (_, { environmentId }) => environmentId,
  '/v1/agent-credentials/:provider': async (server, tenant) => {
    const { organizationId } = tenant
    const body = { organizationId, provider: 'openai', key: 'x' }
    await asOwner(server, tenant, 'PUT', '/v1/agent-credentials', body)
    return 'openai'
  },

  '/v1/docks/:id/ports/:port': async (server, tenant) => {
    await asOwner(server, tenant, 'POST', `/v1/docks/${tenant.dockId}/ports`, { port: 8080 })
    return '8080'
  },
  '/v1/docks/:id/processes/:pid': async (server, tenant) => {
    const path = `/v1/docks/${tenant.dockId}/processes`
    return (await asOwner<{ id: string }>(server, tenant, 'POST', path, { command: 'true' })).id
  },
  '/v1/environments/:ref/repos/:repoId': async (server, tenant) => {
    const body = { provider: 'github', repositoryId: newUuid(), fullName: `owner/${newUuid()}` }
    const { repos } = await asOwner<{ repos: { id: string }[] }>(
      server,
      tenant,
      'POST',
      `/v1/environments/${tenant.environmentId}/repos`,
      body,
    )
    return repos.at(-1)!.id
  },
  '/v1/environments/:ref/vars/:key': async (server, tenant) => {
    const path = `/v1/environments/${tenant.environmentId}/vars`
    await asOwner(server, tenant, 'POST', path, { key: 'PRESENT', value: 'x' })
    return 'PRESENT'
  },
  '/v1/environments/:ref/files/:path': async (server, tenant) => {
    const path = `/v1/environments/${tenant.environmentId}/files`
    await asOwner(server, tenant, 'POST', path, { path: 'present/file', contents: 'x' })
    return 'present/file'
  },

  '/v1/snapshots/:id': async (server, tenant) => {
    await asOwner(server, tenant, 'POST', `/v1/docks/${tenant.dockId}/branch`, {})
    const path = `/v1/docks/${tenant.dockId}/snapshots`
    const { snapshots } = await asOwner<{ snapshots: [{ id: string }] }>(server, tenant, 'GET', path)
    return snapshots[0].id
  },
  '/api/dashboard/snapshots/:id': (server, tenant) => resources['/v1/snapshots/:id']!(server, tenant),
  '/api/dashboard/snapshots/:id/diff/:to': (server, tenant) =>
    resources['/v1/snapshots/:id']!(server, tenant),
  '/v1/templates/:name': async (server, tenant) => {
    const { name } = await asOwner<{ name: string }>(server, tenant, 'POST', '/v1/templates', {
      dockId: tenant.dockId,
      name: 'template',
    })
    return name
  },
  '/v1/operations/:id': async (server, { organizationId }) => {
    const row = await server.database.db
      .selectFrom('operations')
      .select('id')
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow()
    return row.id
  },
  '/v1/api-keys/:id': async (server, tenant) =>
    (await asOwner<{ id: string }>(server, tenant, 'POST', '/v1/api-keys', { name: 'x' })).id,
  '/v1/ssh-keys/:id': async (server, tenant) => {
    // Inserted directly, because the route allows only ten additions per hour.
    const row = await server.database.db
      .insertInto('ssh_keys')
      .values({
        id: newUuid(),
        user_id: tenant.owner.userId,
        name: 'x',
        public_key: 'ssh-ed25519 x',
        fingerprint: `SHA256:${newUuid()}`,
        last_used_at: null,
        created_at: new Date(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return row.id
  },
  '/v1/github/installations/:id': async (server, { organizationId, workspaceId, owner }) => {
    const now = new Date()
    const id = newUuid()
    const { db } = server.database
    await db
      .insertInto('github_installations')
      .values({
        ...{ id, organization_id: organizationId, workspace_id: workspaceId, created_by: owner.userId },
        ...{ provider_installation_id: 1, agent: 'opencode', test_command: null },
        ...{ created_at: now, updated_at: now },
      })
      .execute()
    await db
      .insertInto('github_installation_settings')
      .values({
        ...{ installation_id: id, execution_target: 'dock', environment_id: null, budget_cents: 500 },
        ...{ timeout_seconds: 3600, label: null, model: null, command_template: null },
        allow_workflow_files: false,
      })
      .execute()
    return id
  },
  '/v1/webhooks/endpoints/:id': async (server, { organizationId, owner }) => {
    const answer = await server.fetch('/v1/webhooks/endpoints', {
      method: 'POST',
      headers: { cookie: owner.cookie, origin: server.config.apiUrl, 'content-type': 'application/json' },
      body: JSON.stringify({
        organizationId,
        name: 'x',
        url: 'https://hooks.example.com/x',
        events: ['dock.error'],
      }),
    })
    return ((await answer.json()) as { data: { id: string } }).data.id
  },
  '/v1/webhooks/endpoints/:id/deliveries/:deliveryId': async (server, { organizationId }) => {
    const { db } = server.database
    const endpoint = await db
      .selectFrom('webhook_endpoints')
      .select('id')
      .where('organization_id', '=', organizationId)
      .executeTakeFirstOrThrow()
    const now = new Date()
    const event = { event_id: newUuid(), event: 'dock.error' as const, endpoint_id: endpoint.id }
    const [id, deliveryId] = [newUuid(), newUuid()]
    await db
      .insertInto('webhook_deliveries')
      .values({
        ...event,
        id: deliveryId,
        organization_id: organizationId,
        occurred_at: now,
        dock_id: newUuid(),
        dock_state: 'error',
        workspace_id: newUuid(),
        status: 'sent',
        next_attempt_at: now,
        created_at: now,
      })
      .execute()
    await db
      .insertInto('webhook_attempts')
      .values({
        ...event,
        id,
        delivery_id: deliveryId,
        status: 200,
        error: null,
        started_at: now,
        finished_at: now,
      })
      .execute()
    return id
  },
  '/api/dashboard/webhooks/:id': (server, tenant) => resources['/v1/webhooks/endpoints/:id']!(server, tenant),
  '/api/dashboard/webhooks/:id/deliveries/:deliveryId': (server, tenant) =>
    resources['/v1/webhooks/endpoints/:id/deliveries/:deliveryId']!(server, tenant),
  '/v1/notifications/:id': async (server, tenant) => {
    const row = await server.database.db
      .insertInto('notifications')
      .values({
        user_id: tenant.owner.userId,
        organization_id: tenant.organizationId,
        event_id: newUuid(),
        type: 'disk_full',
        title: 'Full',
        body: 'The disk is full.',
        dock_id: tenant.dockId,
        occurred_at: new Date(),
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    return row.id
  },
  '/v1/organizations/:id/invitations/:invitationId': inviteSomebody,
  '/api/dashboard/organizations/:id': (_, { organizationId }) => organizationId,
  '/api/dashboard/organizations/:id/invitations/:invitationId': inviteSomebody,
  '/v1/me/invitations/:invitationId': async (server, tenant) => (await inviteOwner(server, tenant)).id,
  '/api/dashboard/invitations/:token': async (server, tenant) => (await inviteOwner(server, tenant)).token,
  '/v1/invitations/:token': async (server, tenant) => (await inviteOwner(server, tenant)).token,
  '/v1/me/connections/:id': async (server, { owner }) => {
    const account = `account-${owner.userId}`
    await server.database.db
      .insertInto('login_accounts')
      .values({ user_id: owner.userId, provider_id: 'github', account_id: account })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return `github:${account}`
  },
  '/v1/github/runs/:id': async (server, { organizationId, workspaceId, owner }) => {
    const id = newUuid()
    const now = new Date()
    await server.database.db
      .insertInto('runs')
      .values({
        ...{ id, organization_id: organizationId, workspace_id: workspaceId, installation_id: newUuid() },
        ...{ provider_installation_id: 1, repository_id: 1, repo: 'acme/app', issue_number: 1 },
        ...{
          created_by: owner.userId,
          execution_target: 'dock',
          state: 'done',
          branch: 'dock/issue-1-abcdef',
        },
        ...{
          base_branch: 'main',
          agent: 'command',
          settings: '{"budgetUsd":5}',
          created_at: now,
          updated_at: now,
        },
      })
      .execute()
    return id
  },
  '/v1/hosts/:id': (server) => hostId(server),
  '/api/dashboard/unverified-people/:id': async (server) =>
    (await addPerson(server, { emailVerified: false })).userId,
  '/api/dashboard/quarantine/:id': async (server) => {
    const id = newUuid()
    await sql`insert into quarantine (id, kind, thing_id, state, first_seen_at)
      values (${id}, 'objects', ${newUuid()}, 'held', now())`.execute(server.database.db)
    return id
  },
}

const hostId = async (server: TestControlPlane): Promise<string> =>
  (await server.database.db.selectFrom('hosts').select('id').executeTakeFirstOrThrow()).id

/** Invites the tenant's owner to an organization of another person. */
const inviteOwner = async (
  server: TestControlPlane,
  { owner }: Tenant,
): Promise<{ id: string; token: string }> => {
  const host = await addPerson(server)
  const [id, token, now] = [newUuid(), randomBytes(32).toString('base64url'), Date.now()]
  const organization = await ask<{ id: string }>(server, host, 'POST', '/v1/organizations', { name: 'Host' })
  await server.database.db
    .insertInto('invitations')
    .values({
      id,
      organization_id: organization.id,
      email: owner.email,
      role: 'member',
      token_hash: createHash('sha256').update(token).digest(),
      expires_at: new Date(now + 3_600_000),
      created_at: new Date(now),
    })
    .execute()
  return { id, token }
}
