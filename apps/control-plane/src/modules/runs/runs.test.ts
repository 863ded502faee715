/** The routes of Runs, over HTTP with rows in a real database. */
import type { Run, RunLogPart } from '@dock/contract'
import { newUuid } from '@dock/foundation'
import { addPerson, startTestControlPlane, type TestControlPlane } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

let server: TestControlPlane
let issueNumber = 0
let createdBy: string
beforeAll(async () => {
  server = await startTestControlPlane()
  const user = await server.database.db.selectFrom('users').select('id').executeTakeFirstOrThrow()
  createdBy = user.id
})
afterAll(() => server.stop())
beforeEach(() => server.database.db.deleteFrom('runs').execute())

const insertRun = async (values: object = {}): Promise<string> => {
  const id = newUuid()
  const now = new Date(Date.now() + ++issueNumber)
  const { organizationId, workspaceId } = server.admin
  const settings = { environment: null, budgetUsd: 5, timeoutSeconds: 60, model: null, commandTemplate: null }
  await server.database.db
    .insertInto('runs')
    .values({
      id,
      organization_id: organizationId,
      workspace_id: workspaceId,
      installation_id: newUuid(),
      provider_installation_id: 1,
      repository_id: 1,
      repo: 'acme/app',
      issue_number: issueNumber,
      created_by: createdBy,
      execution_target: 'dock',
      state: 'pending',
      branch: 'dock/issue-1-abcdef',
      base_branch: 'main',
      agent: 'command',
      created_at: now,
      updated_at: now,
      settings: JSON.stringify({ ...settings, allowWorkflowFiles: false }),
      ...values,
    })
    .execute()
  return id
}
const insertDock = async (): Promise<string> => {
  const id = newUuid()
  const { organizationId, workspaceId } = server.admin
  await sql`insert into docks (id, organization_id, workspace_id, name, image, cpus, memory_mib, disk_gib, runtime,
      state, state_changed_at, generation, environment, no_env, placed, has_disk, setup_status, created_by, created_at,
      updated_at)
    values (${id}, ${organizationId}, ${workspaceId}, ${id}, 'debian-13', 1, 512, 1, 'gvisor', 'archived', now(), 1,
      'default', false, false, false, 'done', ${createdBy}, now(), now())`.execute(server.database.db)
  return id
}
const ask = (method: string, path: string) => server.call(method, `/v1/github/runs${path}`)
const read = async (id: string): Promise<Run> => (await ask('GET', `/${id}`)).body.data as Run

it('lists the Runs of a workspace newest first, also by state', async () => {
  const { workspaceId } = server.admin
  const first = await insertRun({ state: 'done' })
  const second = await insertRun()
  const ids = async (query = '') =>
    ((await ask('GET', `?workspaceId=${workspaceId}${query}`)).body.data as Run[]).map(({ id }) => id)
  expect(await ids()).toEqual([second, first])
  expect(await ids('&state=done')).toEqual([first])
  expect((await ask('GET', `?workspaceId=${newUuid()}`)).body.code).toBe('installation_not_found')
})

it('reads a Run, and none of another workspace or organization', async () => {
  const id = await insertRun()
  expect(await read(id)).toMatchObject({ id, state: 'pending', events: [], prNumber: null, agent: 'command' })
  const { workspaceId } = server.admin
  expect((await ask('GET', `/${id}?workspaceId=${workspaceId}`)).status).toBe(200)
  expect((await ask('GET', `/${id}?workspaceId=${newUuid()}`)).body.code).toBe('run_not_found')
  const stranger = await addPerson(server)
  const answer = await server.call('GET', `/v1/github/runs/${id}`, undefined, stranger.apiKey)
  expect(answer.body.code).toBe('run_not_found')
})

it('stops a Run at once while no machine works for it, and keeps final states', async () => {
  const id = await insertRun()
  expect((await ask('POST', `/${id}/stop`)).body.data).toMatchObject({ state: 'stopped' })
  expect((await read(id)).events.map(({ t }) => t)).toEqual(['stopped'])
  expect((await ask('POST', `/${id}/stop`)).body.data).toMatchObject({ state: 'stopped' })
  expect((await read(id)).events).toHaveLength(1)
  const working = await insertRun({ state: 'working', door_open: true })
  expect((await ask('POST', `/${working}/stop`)).body.data).toMatchObject({ state: 'working' })
  const row = server.database.db.selectFrom('runs').selectAll().where('id', '=', working)
  expect(await row.executeTakeFirst()).toMatchObject({ stop_reason: expect.any(String), door_open: false })
})

it('lets only the creator and admins stop a Run whose end deletes the data of its Dock', async () => {
  const { db } = server.database
  const { organizationId } = server.admin
  const member = await addPerson(server, { role: 'member', organizationId })
  const stop = async (id: string) =>
    (await server.call('POST', `/v1/github/runs/${id}/stop`, undefined, member.apiKey)).body.code
  const setRetention = (enabled: boolean) =>
    db
      .updateTable('organizations')
      .set({ retention_enabled: enabled })
      .where('id', '=', organizationId)
      .execute()
  await setRetention(true)
  try {
    expect(await stop(await insertRun({ dock_id: await insertDock(), state: 'working' }))).toBe('forbidden')
    expect(await stop(await insertRun())).toBeUndefined()
    const own = await insertRun({ dock_id: await insertDock(), state: 'working', created_by: member.userId })
    expect(await stop(own)).toBeUndefined()
    expect((await ask('POST', `/${await insertRun({ dock_id: await insertDock() })}/stop`)).status).toBe(200)
  } finally {
    await setRetention(false)
  }
})

it('promotes only a Fast Run that waits for its machine', async () => {
  const id = await insertRun({ execution_target: 'fast' })
  expect((await ask('POST', `/${id}/promote`)).body.data).toMatchObject({ executionTarget: 'dock' })
  expect((await read(id)).events.map(({ t }) => t)).toEqual(['promoted'])
  for (const values of [{}, { execution_target: 'fast', state: 'working' }])
    expect((await ask('POST', `/${await insertRun(values)}/promote`)).body.code).toBe('run_not_promotable')
  expect((await ask('POST', `/${id}/promote`)).body.code).toBe('run_not_promotable')
})

it('waits at the end of a log until it grows, or the Run ends', async () => {
  const { db } = server.database
  const id = await insertRun()
  const turn = newUuid()
  const common = { repository_id: 1, actor: 'ann', instruction: '', text: '{}', has_outsider_text: false }
  await db
    .insertInto('run_turns')
    .values({ id: turn, run_id: id, number: 1, trigger_key: newUuid(), created_at: new Date(), ...common })
    .execute()
  const waitForMore = async (offset: number) =>
    (await ask('GET', `/${id}/log?waitSeconds=30&offset=${offset}`)).body.data as RunLogPart
  const first = waitForMore(0)
  await db.insertInto('run_logs').values({ turn_id: turn, at_byte: 0, text: 'one' }).execute()
  expect(await first).toMatchObject({ text: 'one', nextOffset: 3, isComplete: false })
  await db.updateTable('run_turns').set({ log_bytes: 3 }).where('id', '=', turn).execute()
  const second = waitForMore(3)
  await ask('POST', `/${id}/stop`)
  expect(await second).toMatchObject({ text: '' })
  expect((await ask('GET', `/${id}/log?waitSeconds=31`)).status).toBe(400)
})

it('reads log and cost', async () => {
  const { db } = server.database
  const id = await insertRun()
  const [turn, now] = [newUuid(), new Date()]
  const common = { repository_id: 1, actor: 'ann', instruction: '', text: '{}', has_outsider_text: false }
  const spent = { input_tokens: 10, output_tokens: 2, cost_micro_usd: 1_500_000, log_bytes: 5 }
  await db
    .insertInto('run_turns')
    .values({ id: turn, run_id: id, number: 1, trigger_key: newUuid(), created_at: now, ...common, ...spent })
    .execute()
  const pieces = [
    { turn_id: turn, at_byte: 0, text: 'one' },
    { turn_id: turn, at_byte: 3, text: 'é' },
  ]
  await db.insertInto('run_logs').values(pieces).execute()
  const log = async (query: string) => (await ask('GET', `/${id}/log${query}`)).body.data as RunLogPart
  expect(await log('')).toEqual({ turn: 1, text: 'oneé', nextOffset: 5, isComplete: false })
  await db.updateTable('run_turns').set({ ended_at: now }).execute()
  expect(await log('?offset=3')).toEqual({ turn: 1, text: 'é', nextOffset: 5, isComplete: true })
  expect(await log('?turn=2')).toMatchObject({ text: '', isComplete: true })
  expect((await ask('GET', `/${id}/cost`)).body.data).toEqual({
    turns: 1,
    inputTokens: 10,
    outputTokens: 2,
    costUsd: 1.5,
    budgetUsd: 5,
  })
})
