/** The machines of Runs: stops, doors, archiving and resuming, on a fake host with real processes. */
import { createLogger, systemClock } from '@dock/foundation'
import { createTurnsWorld } from '@dock/testkit/src/runs/turns-world.ts'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, it, vi } from 'vitest'
import { withTransaction } from '../../database/database.ts'
import { beginStop, execInDock, findDock } from '../docks/index.ts'
import { HostUnreachable } from '../hosts/index.ts'
import { sweepRuns } from './run-sweep.ts'

const turns = await createTurnsWorld()
const {
  world,
  runs,
  repository,
  github,
  git,
  triggerOf,
  planOf,
  begin,
  signal,
  read,
  stateOfDock,
  eventsOf,
  logOf,
} = turns
afterAll(turns.close)
beforeEach(() => world.modules.runner.settled())

const until = (id: string, state: string) =>
  expect.poll(() => turns.stateOf(id), { timeout: 60_000, interval: 50 }).toMatch(new RegExp(`^${state}`))

/** What the sweep needs. */
const parts = {
  db: world.db,
  clock: systemClock,
  docks: world.modules.context,
  machines: world.modules.docks.machines,
  logger: createLogger('test'),
} as never

it('stops: the agent is ended, and nothing is pushed', async () => {
  const id = await begin(triggerOf(), planOf('echo begun; sleep 600; echo more >more'))
  await expect.poll(() => logOf(id), { timeout: 30_000 }).toBe('begun\n')
  const dockId = (await read(id)).dockId!
  // The host is out of reach for a moment. That must not leave the agent running.
  const signalKept = vi.spyOn(world.host, 'signalKept').mockRejectedValueOnce(new HostUnreachable('cut'))
  const stop = {
    kind: 'stop' as const,
    repository,
    number: (await read(id)).issueNumber,
    actor: { id: 1, login: 'ann' },
  }
  await signal(stop)
  await until(id, 'stopped')
  expect((await eventsOf(id)).at(-1)).toBe('stopped')
  const processes = (await world.host.listKept({ hostId: world.hostId, dockId })).processes
  expect(processes.every(({ end }) => end !== null)).toBe(true)
  signalKept.mockRestore()
  expect(await github.readBranch(repository, (await read(id)).branch)).toBeNull()
})

it('gives git in its Dock the branch of the Run while it works, and nothing afterwards', async () => {
  const id = await begin(triggerOf(), planOf('sleep 600'))
  await expect.poll(async () => (await read(id)).state, { timeout: 30_000 }).toBe('working')
  const { dockId, branch } = await read(id)
  const dock = { dockId: dockId!, hostId: world.hostId, generation: 1 }
  const grant = await runs.grantFor(dock)
  expect(grant?.policy).toEqual([
    { provider: 'github', fullName: 'acme/app', access: 'write', branches: [branch] },
  ])
  expect(await grant!.credentialFor(grant!.policy[0]!)).toEqual({
    username: 'x-access-token',
    password: 'secret-token',
  })
  const { installationId, organizationId, workspaceId, repositoryId } = repository
  await sql`insert into github_installations (id, provider_installation_id, organization_id, workspace_id, created_by,
      agent, created_at, updated_at)
    values (${installationId}, 7, ${organizationId}, ${workspaceId}, ${world.caller.userId}, 'command', now(), now())`.execute(
    world.db,
  )
  await sql`insert into github_repositories (repository_id, installation_id, full_name, default_branch, linked_at)
    values (${repositoryId}, ${installationId}, 'acme/renamed', 'main', now())`.execute(world.db)
  // The clone in the Dock has the former name.
  expect((await runs.grantFor(dock))?.policy).toEqual([
    { ...grant!.policy[0], fullName: 'acme/app', nowNamed: 'acme/renamed' },
  ])
  expect(await runs.grantFor({ ...dock, generation: 2 })).toBeNull()
  await signal({
    kind: 'unlinked',
    installationId: repository.installationId,
    repositoryIds: [77],
  })
  expect(await runs.grantFor(dock)).toBeNull()
  await until(id, 'stopped')
})

it('archives the Dock an hour later, and ends if a person stops it before', async () => {
  const id = await begin(triggerOf(), planOf('date +%N >time'))
  await until(id, 'pr_opened')
  await sweepRuns(parts)
  expect(await stateOfDock(id)).toBe('ready')
  await sql`update runs set archive_at = now() where id = ${id}`.execute(world.db)
  await sweepRuns(parts)
  await expect.poll(() => stateOfDock(id)).toBe('archived')
  await sweepRuns(parts)
  expect((await read(id)).state).toBe('pr_opened')
  await sql`update runs set archive_at = now() + interval '1 hour' where id = ${id}`.execute(world.db)
  await sweepRuns(parts)
  expect((await read(id)).state).toBe('stopped')
})

it('resumes an archived Dock for feedback', async () => {
  const trigger = triggerOf()
  const id = await begin(trigger, planOf('date +%s%N >>resumed'))
  await until(id, 'pr_opened')
  await sql`update runs set archive_at = now() where id = ${id}`.execute(world.db)
  await sweepRuns(parts)
  const { prNumber, branch } = await read(id)
  const feedback = triggerOf({ issueNumber: trigger.issueNumber, kind: 'review' })
  await signal({ kind: 'feedback', pullRequestNumber: prNumber!, trigger: feedback })
  await until(id, 'pr_opened')
  expect(await stateOfDock(id)).toMatch(/ready|idle|running/)
  expect((await git('show', `${branch}:resumed`)).split('\n')).toHaveLength(2)
})

it('is stopped if its Dock is stopped by a person while it works', async () => {
  const id = await begin(triggerOf(), planOf('sleep 600'))
  await expect.poll(async () => (await read(id)).state, { timeout: 30_000 }).toBe('working')
  const dock = await findDock(world.db, world.organizationId, (await read(id)).dockId!)
  await beginStop(world.modules.context, dock!, { by: 'user:x', through: 'api', why: 'stop' })
  await until(id, 'stopped')
})

it('closes its Dock to everybody else while it works', async () => {
  const id = await begin(triggerOf(), planOf('sleep 600'))
  await expect.poll(async () => (await read(id)).state, { timeout: 30_000 }).toBe('working')
  const { dockId } = await read(id)
  const run = () =>
    execInDock(world.modules.context, world.caller, dockId!, {
      command: 'true',
      timeoutSeconds: 5,
      env: {},
      cwd: '/',
    })
  await expect(run()).rejects.toMatchObject({ code: 'exec_unavailable' })
  await signal({ kind: 'issue_closed', repository, issueNumber: (await read(id)).issueNumber })
  await until(id, 'stopped')
  expect(await run()).toMatchObject({ exitCode: 0 })
})

it('starts nothing of a trigger whose installation is gone', async () => {
  const begun = await withTransaction(world.db, (tx) => runs.sink.startRun(tx, triggerOf()))
  expect(begun).toEqual({ outcome: 'refused', runId: null })
})
