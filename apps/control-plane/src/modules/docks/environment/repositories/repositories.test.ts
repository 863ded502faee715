/** Repositories of Environments when Docks start: states, scripts and failures. Over HTTP, with the fake host. */
import type { Dock, Environment } from '@dock/contract'
import { type ControlPlaneWithHost, startControlPlaneWithHost } from '@dock/testkit'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'

let server: ControlPlaneWithHost
let environment: Environment

beforeAll(async () => {
  server = await startControlPlaneWithHost()
})
afterAll(() => server.stop())
beforeEach(async () => {
  const { host } = server
  host.calls.length = 0
  host.failures.clear()
  host.cloneOutcome = { failed: [], cloned: [], toSetUp: [] }
  host.setupOutcome = { exitCode: 0, output: '', timedOut: false }
  const name = `env-${Math.random().toString(36).slice(2, 10)}`
  environment = await made('/v1/environments', { organizationId: server.admin.organizationId, name })
})

const made = async <Thing>(path: string, body: unknown): Promise<Thing> => {
  const answer = await server.call('POST', path, body)
  if (answer.status > 299) throw new Error(JSON.stringify(answer.body))
  return answer.body.data as Thing
}
const add = async (repository: object): Promise<Environment> => {
  const path = `/v1/environments/${environment.id}/repos`
  environment = await made(path, { provider: 'github', repositoryId: '7', ...repository })
  return environment
}
const create = (body: object = {}): Promise<Dock> =>
  made('/v1/docks', { workspaceId: server.admin.workspaceId, environment: environment.name, ...body })
const read = async (id: string): Promise<Dock> =>
  (await server.call('GET', `/v1/docks/${id}`)).body.data as Dock
const calls = (method: string) =>
  server.host.calls.filter((call) => call.method === method).map(({ body }) => body as never)
const moves = async (id: string): Promise<string[]> =>
  (
    await sql<{
      to: string
    }>`select to_state as to from dock_state_changes where dock_id = ${id} order by id`.execute(
      server.database.db,
    )
  ).rows.map(({ to }) => to)

it('clones repositories in state cloning, runs their setup scripts, and then becomes ready', async () => {
  await add({ fullName: 'acme/app', baseBranch: 'main', setupScript: "echo 'hi'" })
  await add({ provider: 'gitlab', fullName: 'acme/group/tool' })
  const [app, tool] = environment.repos
  server.host.cloneOutcome = { failed: [], cloned: [app!.id, tool!.id], toSetUp: [app!.id] }
  const dock = await create()
  expect(dock).toMatchObject({ state: 'ready', setupStatus: 'done', setupError: null })
  expect(await moves(dock.id)).toEqual(['provisioning', 'provisioned', 'cloning', 'ready'])
  const common = { name: 'acme/app', folder: 'app', branch: 'main', hasSetupScript: true }
  expect(calls('cloneRepositories')).toEqual([
    expect.objectContaining({
      generation: 1,
      repositories: [
        { id: app!.id, url: 'https://github.com/acme/app.git', doorPath: 'github/acme/app.git', ...common },
        {
          id: tool!.id,
          name: 'acme/group/tool',
          folder: 'tool',
          branch: null,
          hasSetupScript: false,
          url: 'https://gitlab.com/acme/group/tool.git',
          doorPath: 'gitlab/acme/group/tool.git',
        },
      ],
    }),
  ])
  const { script } = calls('setup')[0] as unknown as { script: string }
  expect(script).toContain(`bash <(printf %s 'echo '\\''hi'\\''')`)
  expect(script).toContain(`cd "$HOME/work/"'app'`)
  expect(script).not.toContain('tool')
})

it('skips state cloning without repositories, or if the Environment passes none', async () => {
  expect(await moves((await create()).id)).toEqual(['provisioning', 'provisioned', 'ready'])
  await add({ fullName: 'acme/app' })
  const without = await create({ noEnv: true })
  expect(await moves(without.id)).toEqual(['provisioning', 'provisioned', 'ready'])
  for (const posture of [{ passGithub: false }, { passGithub: true, safeForThirdParties: true }]) {
    await server.call('PATCH', `/v1/environments/${environment.id}`, posture)
    expect(await moves((await create()).id)).not.toContain('cloning')
  }
  expect(calls('cloneRepositories')).toEqual([])
})

it('becomes ready and reports the failure if a clone fails; no setup script runs', async () => {
  await add({ fullName: 'acme/app', setupScript: 'true' })
  await server.call('POST', `/v1/environments/${environment.id}/vars`, {
    key: 'PLACE',
    value: 'hidden-place',
  })
  const { id } = environment.repos[0]!
  server.host.cloneOutcome = { failed: [{ id, reason: 'not at hidden-place' }], cloned: [], toSetUp: [] }
  const dock = await create({ setupScript: 'echo mine' })
  expect(dock).toMatchObject({ state: 'ready', setupStatus: 'failed' })
  expect(dock.setupError).toBe('acme/app could not be cloned: not at ***')
  await server.controlPlane.docks.runner.settled()
  expect(calls('setup')).toEqual([])
  expect((await read(dock.id)).setupStatus).toBe('failed')
})

it('reports a setup script that failed or timed out', async () => {
  await add({ fullName: 'acme/app', setupScript: 'exit 3' })
  const { id } = environment.repos[0]!
  server.host.cloneOutcome = { failed: [], cloned: [id], toSetUp: [id] }
  server.host.setupOutcome = { exitCode: 3, output: 'acme/app: n\0o', timedOut: false }
  expect((await create()).setupError).toBe('Setup scripts of repositories: exit code 3\nacme/app: n\ufffdo')
  server.host.setupOutcome = { exitCode: 137, output: '', timedOut: true }
  expect((await create()).setupError).toBe('Setup scripts of repositories: timed out after 10 minutes')
})

it('retries if the link breaks, and fails the create if the sandbox ends', async () => {
  await add({ fullName: 'acme/app' })
  const { host } = server
  host.reconnects = true
  host.failures.set('cloneRepositories', ['lost-after'])
  expect(await create()).toMatchObject({ state: 'ready', setupStatus: 'done' })
  expect(calls('cloneRepositories')).toHaveLength(2)
  host.failures.set('cloneRepositories', ['not_running'])
  const name = `lost-${environment.name}`
  await expect(create({ name })).rejects.toThrow('service_unavailable')
  const all = (await server.call('GET', '/v1/docks?all=true')).body.data as Dock[]
  const lost = all.find((dock) => dock.name === name)!
  expect(lost.state).toBe('error')
  expect(await moves(lost.id)).toEqual(['provisioning', 'provisioned', 'cloning', 'error'])
  expect(host.sandboxes.has(lost.id)).toBe(false)
})

it('clones missing repositories at the next boot, and then clears the failure', async () => {
  await add({ fullName: 'acme/app' })
  const { id } = environment.repos[0]!
  server.host.cloneOutcome = { failed: [{ id, reason: 'no way' }], cloned: [], toSetUp: [] }
  const dock = await create()
  expect(dock.setupStatus).toBe('failed')
  await server.call('POST', `/v1/docks/${dock.id}/stop`, {})
  server.host.cloneOutcome = { failed: [], cloned: [id], toSetUp: [] }
  await server.call('POST', `/v1/docks/${dock.id}/resume`, {})
  expect(await read(dock.id)).toMatchObject({ state: 'ready', setupStatus: 'done', setupError: null })
})

it('clones new repositories into a running Dock when its Environment is upgraded', async () => {
  const dock = await create()
  await add({ fullName: 'acme/app', setupScript: 'true' })
  const { id } = environment.repos[0]!
  server.host.cloneOutcome = { failed: [], cloned: [id], toSetUp: [id] }
  await server.call('POST', `/v1/environments/${environment.id}/upgrade`, {})
  await server.controlPlane.docks.runner.settled()
  expect(calls('cloneRepositories')).toEqual([expect.objectContaining({ generation: 1 })])
  expect(calls('setup')).toHaveLength(1)
  expect((await read(dock.id)).setupStatus).toBe('done')
})

it('refuses repository names that would escape the work folder or use a reserved folder', async () => {
  for (const fullName of ['acme/..', 'acme/.', '../app', 'acme/.git', 'acme/.Dock', 'acme/app/..']) {
    const body = { provider: 'github', repositoryId: '7', fullName }
    const answer = await server.call('POST', `/v1/environments/${environment.id}/repos`, body)
    expect([fullName, answer.status]).toEqual([fullName, 400])
  }
})
