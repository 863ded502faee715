/** What becomes of Runs when the workspace or the organization that they belong to is deleted. */
import { newUuid } from '@dock/foundation'
import { recordRuns, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

const runs = recordRuns()
let server: TestControlPlane
let organizationId: string
let workspaceId: string
beforeAll(async () => {
  server = await startTestControlPlane({ runs: runs.sink })
})
afterAll(() => server.stop())

beforeEach(async () => {
  const made = async (path: string, name: string) =>
    ((await server.call('POST', path, { name })).body.data as { id: string }).id
  organizationId = await made('/v1/organizations', 'Acme')
  workspaceId = await made(`/v1/organizations/${organizationId}/workspaces`, 'Second')
})

/** Links a repository with the workspace. */
const link = async () => {
  const { db } = server.database
  const installationId = newUuid()
  const repositoryId = Math.floor(Math.random() * 2 ** 31)
  await sql`insert into github_installations (id, provider_installation_id, organization_id, workspace_id, created_by,
      agent, created_at, updated_at)
    values (${installationId}, ${repositoryId}, ${organizationId}, ${workspaceId}, ${newUuid()}, 'command', now(), now())`.execute(
    db,
  )
  await sql`insert into github_repositories (repository_id, installation_id, full_name, default_branch, linked_at)
    values (${repositoryId}, ${installationId}, 'acme/app', 'main', now())`.execute(db)
  return { installationId, repositoryId }
}
/** Saves a Run whose turn another process carries out. Returns what ends the turn. */
const startRun = async ({ installationId, repositoryId }: Awaited<ReturnType<typeof link>>) => {
  const { db } = server.database
  const runId = newUuid()
  await sql`insert into runs (id, organization_id, workspace_id, installation_id, provider_installation_id, repository_id,
      repo, issue_number, created_by, execution_target, state, branch, base_branch, agent, settings, created_at, updated_at)
    values (${runId}, ${organizationId}, ${workspaceId}, ${installationId}, 1, ${repositoryId}, 'acme/app', 1, ${newUuid()},
      'dock', 'pending', 'b', 'main', 'command', '{}', now(), now())`.execute(db)
  await sql`insert into operations (id, organization_id, kind, target_type, target_id, generation, status, data, cause,
      lease_owner, lease_until, created_at, updated_at)
    values (${`op-${runId}`}, ${organizationId}, 'run-turn', 'run', ${runId}, 0, 'processing', '{}', '{}', 'another',
      now() + interval '1 hour', now(), now())`.execute(db)
  return () => sql`update operations set status = 'completed' where target_id = ${runId}`.execute(db)
}
const exists = async (): Promise<boolean> =>
  (await sql`select 1 from organizations where id = ${organizationId}`.execute(server.database.db)).rows
    .length > 0

it('a workspace stays until the Runs in it have ended', async () => {
  const end = await startRun(await link())
  const remove = () => server.call('DELETE', `/v1/workspaces/${workspaceId}`)
  expect(await remove()).toMatchObject({
    status: 409,
    body: { code: 'workspace_not_empty', message: expect.stringContaining('Stop the Run') },
  })
  await end()
  expect((await remove()).body.data).toEqual({ deleted: true })
})

it('a deleted organization ends its Runs, and goes once they have ended', async () => {
  const linked = await link()
  const end = await startRun(linked)
  runs.signals.length = 0
  await server.call('DELETE', `/v1/organizations/${organizationId}`)
  await expect
    .poll(() => runs.signals)
    .toEqual([
      { kind: 'unlinked', installationId: linked.installationId, repositoryIds: [linked.repositoryId] },
    ])
  await server.controlPlane.removal.run()
  expect(await exists()).toBe(true)
  await end()
  await server.controlPlane.removal.run()
  expect(await exists()).toBe(false)
})
