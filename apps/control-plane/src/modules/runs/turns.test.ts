/**
 * Turns of Runs on a fake host, whose processes are programs of this machine. GitHub is a fake in memory over a bare
 * repository: what is pushed is really pushed.
 */
import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createLogger, newUuid, systemClock } from '@dock/foundation'
import { createFreshDatabase, type FreshDatabase } from '@dock/testkit'
import { createTestWorld, type TestWorld } from '@dock/testkit/src/docks/dock-world.ts'
import { fakeProcessFolder } from '@dock/testkit/src/docks/fake-process.ts'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { withTransaction } from '../../database/database.ts'
import { beginStop, execInDock, findDock } from '../docks/index.ts'
import type { LinkedRepository, PullRequest, RunTrigger } from '../github/index.ts'
import { createRunsModule, type RunsModule } from './create-runs-module.ts'
import { insertRun, type RunPlan } from './insert-run.ts'
import { promoteRun } from './routes/promote-run.ts'
import { findRun, type RunRow } from './run-store.ts'
import { sweepRuns } from './run-sweep.ts'
import type { RunGithub } from './saga/turn-context.ts'

const run = promisify(execFile)
const logger = createLogger('test')
logger.level = 'silent'

let database: FreshDatabase
let world: TestWorld
let runs: RunsModule
let repository: LinkedRepository
let bare: string
let counter = 0
const pulls: (PullRequest & { body: string; title: string })[] = []
const comments = new Map<string, string[]>()

const git = async (...words: string[]): Promise<string> =>
  (await run('git', ['-C', bare, ...words])).stdout.trim()

/** What the module needs of GitHub, with the same idempotence. */
const github: RunGithub = {
  repositoryToken: async () => ({ token: 'secret-token', expiresAt: '' }),
  forgetToken: () => undefined,
  readBranch: async (_, branch) =>
    git('rev-parse', '--verify', '-q', branch).then(
      (sha) => ({ sha }),
      () => null,
    ),
  compare: async (_, base, head) => ({
    aheadBy: Number(await git('rev-list', '--count', `${base}..${head}`)),
    files: [],
  }),
  ensurePullRequest: async (_, { head, base, title, body }) => {
    const known = pulls.find(({ headBranch }) => headBranch === head)
    if (known) return known
    const made = {
      ...{ number: 100 + pulls.length, url: `https://github.test/pull/${100 + pulls.length}`, title, body },
      ...{
        state: 'open' as const,
        isMerged: false,
        isDraft: true,
        headSha: '',
        headBranch: head,
        baseBranch: base,
      },
    }
    pulls.push(made)
    return made
  },
  updatePullRequest: async (_, number, change) =>
    Object.assign(pulls.find((each) => each.number === number)!, change),
  writeStatusComment: async (_, { marker, body }) => {
    comments.set(marker, [...(comments.get(marker) ?? []), body])
    return { commentId: 1 }
  },
  writeCheckRun: async () => ({ checkRunId: 1 }),
  readIssueText: async () => null,
}

beforeAll(async () => {
  database = await createFreshDatabase()
  world = await createTestWorld(database.db)
  bare = join(fakeProcessFolder(), 'app.git')
  const work = join(fakeProcessFolder(), 'work', 'app')
  await mkdir(join(fakeProcessFolder(), 'work'))
  await run('git', ['init', '-q', '--bare', '-b', 'main', bare])
  await run('git', ['clone', '-q', bare, work])
  await run('bash', [
    '-c',
    `cd ${work} && git checkout -q -b main && echo one >README && git add . && git -c user.name=A -c user.email=a@b.c commit -qm first && git push -q origin main`,
  ])
  runs = createRunsModule({
    ...{ db: world.db, clock: systemClock, logger, owner: world.modules.owner },
    sealer: world.modules.context.sealer,
    ...{ docks: world.modules.context, gateway: world.host, github, gitServer: 'https://github.test' },
    appUrl: 'https://dock.test',
  })
  repository = {
    ...{ installationId: newUuid(), providerInstallationId: 7, organizationId: world.organizationId },
    ...{ workspaceId: world.workspaceId, repositoryId: 77, fullName: 'acme/app', defaultBranch: 'main' },
  }
})
afterAll(() => database.drop())
beforeEach(async () => {
  await world.modules.runner.settled()
  await rm(join(fakeProcessFolder(), 'marks'), { force: true })
})

const triggerOf = (over: Partial<RunTrigger> = {}): RunTrigger => {
  counter += 1
  return {
    ...{
      repository,
      issueNumber: counter,
      kind: 'mention',
      key: `comment:${counter}`,
      actor: { id: 1, login: 'ann' },
    },
    instruction: 'Please fix it.',
    text: {
      title: 'The footer\0 is wrong',
      body: { author: 'ann', isOutsider: false, createdAt: '2026-01-01T00:00:00Z', body: 'See the footer.' },
      ...{ comments: [], hasOutsiderText: false },
    },
    ...over,
  }
}
const planOf = (commandTemplate: string, over: Partial<RunPlan> = {}): RunPlan => ({
  ...{ createdBy: world.caller.userId, executionTarget: 'dock', agent: 'command', testCommand: null },
  settings: {
    ...{ environment: null, budgetUsd: 5, timeoutSeconds: 60, model: null, commandTemplate },
    allowWorkflowFiles: false,
  },
  ...over,
})
const begin = async (trigger: RunTrigger, plan: RunPlan): Promise<string> => {
  const id = await withTransaction(world.db, (tx) => insertRun(tx, trigger, plan, new Date()))
  if (id === null) throw new Error('no Run was started')
  runs.sink.wake()
  return id
}
const read = async (id: string): Promise<RunRow> => (await findRun(world.db, world.organizationId, id))!
const until = (id: string, state: string) =>
  expect
    .poll(
      async () => {
        world.modules.runner.wake()
        const { state: now, failureReason } = await read(id)
        return failureReason === null ? now : `${now}: ${failureReason}`
      },
      { timeout: 60_000, interval: 50 },
    )
    .toMatch(new RegExp(`^${state}`))
const eventsOf = async (id: string): Promise<string[]> =>
  (
    await sql<{ type: string }>`select type from run_events where run_id = ${id} order by id`.execute(
      world.db,
    )
  ).rows.map(({ type }) => type)
const logOf = async (id: string): Promise<string> =>
  (
    await sql<{ text: string }>`select coalesce(string_agg(l.text, '' order by l.at_byte), '') as text
      from run_logs l join run_turns t on t.id = l.turn_id where t.run_id = ${id}`.execute(world.db)
  ).rows[0]!.text

it('goes from a trigger to a draft pull request, and again for feedback', async () => {
  const trigger = triggerOf()
  const script =
    "python3 -c \"import json,os; p=json.load(open(os.environ['DOCK_PROMPT_FILE'])); print(p['instruction'])\" | tee -a fix"
  const id = await begin(trigger, planOf(script, { testCommand: 'grep -q fix fix' }))
  await until(id, 'pr_opened')
  const made = await read(id)
  expect(made).toMatchObject({
    completionStatus: 'changes_pushed',
    prNumber: pulls[0]!.number,
    promptVersion: '1',
  })
  expect(made.branch).toMatch(/^dock\/issue-\d+-[0-9a-f]{6}$/)
  expect(pulls[0]).toMatchObject({ headBranch: made.branch, baseBranch: 'main', isDraft: true })
  expect(pulls[0]!.title).toContain('The footer')
  expect(await git('show', `${made.branch}:fix`)).toBe('Please fix it.')
  expect(await git('log', '-1', '--format=%P', made.branch)).toBe(made.baseCommit)
  expect(await logOf(id)).toBe('Please fix it.\n')
  const first = [
    'queued',
    'provisioning',
    'machine_ready',
    'cloned',
    'agent_started',
    'tests_passed',
    'pushed',
    'pr_opened',
  ]
  expect(await eventsOf(id)).toEqual(first)
  expect(comments.get(id)).toHaveLength(2)

  // The same trigger and a second one for the issue start nothing.
  for (const again of [trigger, { ...trigger, key: 'comment:other' }])
    expect(
      await withTransaction(world.db, (tx) => insertRun(tx, again, planOf('true'), new Date())),
    ).toBeNull()

  const feedback = triggerOf({
    issueNumber: trigger.issueNumber,
    kind: 'review',
    instruction: 'And the header.',
  })
  const signal = { kind: 'feedback' as const, pullRequestNumber: made.prNumber!, trigger: feedback }
  for (let times = 0; times < 2; times++)
    expect(await withTransaction(world.db, (tx) => runs.sink.signalRun(tx, signal))).toBe(true)
  await until(id, 'pr_opened')
  expect(await git('show', `${made.branch}:fix`)).toBe('Please fix it.\nAnd the header.')
  expect(await eventsOf(id)).toEqual([...first, 'feedback', 'tests_passed', 'pushed', 'pr_updated'])
  expect(pulls.filter(({ headBranch }) => headBranch === made.branch)).toHaveLength(1)

  const merged = { kind: 'merged' as const, repository, pullRequestNumber: made.prNumber! }
  await withTransaction(world.db, (tx) => runs.sink.signalRun(tx, merged))
  expect((await read(id)).state).toBe('done')
})

it('opens the draft although the tests fail, and says so', async () => {
  const id = await begin(triggerOf(), planOf('echo x >broken', { testCommand: 'exit 3' }))
  await until(id, 'pr_opened')
  const { completionStatus, branch } = await read(id)
  expect(completionStatus).toBe('tests_failed')
  expect(pulls.find(({ headBranch }) => headBranch === branch)!.body).toContain('The tests fail')
})

it('is done without a pull request if nothing changed', async () => {
  const before = pulls.length
  const id = await begin(triggerOf(), planOf('echo nothing to do'))
  await until(id, 'done')
  expect(await read(id)).toMatchObject({ completionStatus: 'no_changes', prNumber: null })
  expect(pulls).toHaveLength(before)
})

it('fails if the agent does', async () => {
  const id = await begin(triggerOf(), planOf('exit 4'))
  await until(id, 'failed.*exit code 4')
  expect(await read(id)).toMatchObject({ completionStatus: 'agent_failed' })
  expect(comments.get(id)!.at(-1)).toContain('exit code 4')
})

it('stops: the agent is ended, and nothing is pushed', async () => {
  const id = await begin(triggerOf(), planOf('echo begun; sleep 600; echo more >more'))
  await expect.poll(() => logOf(id), { timeout: 30_000 }).toBe('begun\n')
  const dockId = (await read(id)).dockId!
  const stop = {
    kind: 'stop' as const,
    repository,
    number: (await read(id)).issueNumber,
    actor: { id: 1, login: 'ann' },
  }
  await withTransaction(world.db, (tx) => runs.sink.signalRun(tx, stop))
  await until(id, 'stopped')
  expect((await eventsOf(id)).at(-1)).toBe('stopped')
  const processes = await world.host.listKept(world.hostId, dockId)
  expect(processes.every(({ end }) => end !== null)).toBe(true)
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
  expect(await runs.grantFor({ ...dock, generation: 2 })).toBeNull()
  await withTransaction(world.db, (tx) =>
    runs.sink.signalRun(tx, {
      kind: 'unlinked',
      installationId: repository.installationId,
      repositoryIds: [77],
    }),
  )
  expect(await runs.grantFor(dock)).toBeNull()
  await until(id, 'stopped')
})

it('fails if the person who linked the installation has left', async () => {
  const id = await begin(triggerOf(), planOf('true', { createdBy: world.stranger.userId }))
  await until(id, 'failed.*no longer a member')
})

it('archives the Dock an hour later, and ends if a person stops it before', async () => {
  const id = await begin(triggerOf(), planOf('date +%N >time'))
  await until(id, 'pr_opened')
  const parts = { db: world.db, clock: systemClock, docks: world.modules.context, logger } as never
  const stateOf = async () =>
    (
      await sql<{ state: string }>`select state from docks where id = ${(await read(id)).dockId}`.execute(
        world.db,
      )
    ).rows[0]!.state
  await sweepRuns(parts)
  expect(await stateOf()).toBe('ready')
  await sql`update runs set archive_at = now() where id = ${id}`.execute(world.db)
  await sweepRuns(parts)
  await expect.poll(stateOf).toBe('archived')
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
  await sweepRuns({ db: world.db, clock: systemClock, docks: world.modules.context, logger } as never)
  const { dockId, prNumber, branch } = await read(id)
  const stateOf = async () =>
    (await sql<{ state: string }>`select state from docks where id = ${dockId}`.execute(world.db)).rows[0]!
      .state
  const feedback = triggerOf({ issueNumber: trigger.issueNumber, kind: 'review' })
  await withTransaction(world.db, (tx) =>
    runs.sink.signalRun(tx, { kind: 'feedback', pullRequestNumber: prNumber!, trigger: feedback }),
  )
  await until(id, 'pr_opened')
  expect(await stateOf()).toMatch(/ready|idle|running/)
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
  await withTransaction(world.db, (tx) =>
    runs.sink.signalRun(tx, { kind: 'issue_closed', repository, issueNumber: counter }),
  )
  await until(id, 'stopped')
  expect(await run()).toMatchObject({ exitCode: 0 })
})

it('starts nothing of a trigger whose installation is gone, and a Fast Run waits until it is promoted', async () => {
  const begun = await withTransaction(world.db, (tx) => runs.sink.startRun(tx, triggerOf()))
  expect(begun).toEqual({ outcome: 'refused', runId: null })
  const id = await begin(triggerOf(), planOf('echo fast >fast', { executionTarget: 'fast' }))
  await expect.poll(() => comments.get(id), { timeout: 30_000 }).toHaveLength(1)
  expect((await read(id)).state).toBe('pending')
  const promoted = await promoteRun(runs.context, world.caller, id, {})
  expect(promoted).toMatchObject({ executionTarget: 'dock' })
  await until(id, 'pr_opened')
})
