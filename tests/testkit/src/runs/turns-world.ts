/**
 * Turns of Runs on a fake host, whose processes are programs of this machine. GitHub is a fake in memory over a bare
 * repository: what is pushed is really pushed.
 */
import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { withTransaction } from '@dock/control-plane/src/database/database.ts'
import type { Saga } from '@dock/control-plane/src/engine/index.ts'
import type {
  LinkedRepository,
  PullRequest,
  RunSignal,
  RunTrigger,
} from '@dock/control-plane/src/modules/github/index.ts'
import { createRunsModule, type RunsModule } from '@dock/control-plane/src/modules/runs/index.ts'
import { insertRun, type RunPlan } from '@dock/control-plane/src/modules/runs/insert-run.ts'
import { findRun, type RunRow } from '@dock/control-plane/src/modules/runs/run-store.ts'
import type { RunGithub } from '@dock/control-plane/src/modules/runs/saga/turn-context.ts'
import { createLogger, newUuid, systemClock } from '@dock/foundation'
import { sql } from 'kysely'
import { createTestWorld, type TestWorld } from '../docks/dock-world.ts'
import { fakeProcessFolder } from '../docks/fake-process.ts'
import { createFreshDatabase } from '../fresh-database.ts'

const run = promisify(execFile)
const logger = createLogger('test')
logger.level = 'silent'

export type FakePull = PullRequest & { body: string; title: string }

export type TurnsWorld = {
  world: TestWorld
  runs: RunsModule
  repository: LinkedRepository
  github: RunGithub
  pulls: FakePull[]
  /** Status comments by the Run's id, oldest first. */
  comments: Map<string, string[]>
  /** Runs whose steps run twice, as after a crash. */
  repeated: Set<string>
  /** Runs git in the repository at GitHub. */
  git(...words: string[]): Promise<string>
  /** Returns a trigger on a new issue. */
  triggerOf(over?: Partial<RunTrigger>): RunTrigger
  planOf(commandTemplate: string, over?: Partial<RunPlan>): RunPlan
  /** Saves a Run. Returns null if the issue has a live one or the trigger was used before. */
  insert(trigger: RunTrigger, plan: RunPlan): Promise<string | null>
  begin(trigger: RunTrigger, plan: RunPlan): Promise<string>
  /** Returns false if the signal concerns no Run. */
  signal(signal: RunSignal): Promise<boolean>
  read(id: string): Promise<RunRow>
  /** Returns the state of the Run, with the reason if it has failed. */
  stateOf(id: string): Promise<string>
  eventsOf(id: string): Promise<string[]>
  logOf(id: string): Promise<string>
  stateOfDock(runId: string): Promise<string>
  close(): Promise<void>
}

const makeRepository = async (): Promise<string> => {
  const bare = join(fakeProcessFolder(), 'app.git')
  const work = join(fakeProcessFolder(), 'work', 'app')
  // Another test file in this process may have left its own.
  for (const each of [bare, work]) await rm(each, { recursive: true, force: true })
  await mkdir(join(fakeProcessFolder(), 'work'), { recursive: true })
  await run('git', ['init', '-q', '--bare', '-b', 'main', bare])
  await run('git', ['clone', '-q', bare, work])
  await run('bash', [
    '-c',
    `cd ${work} && git checkout -q -b main && echo one >README && git add . && git -c user.name=A -c user.email=a@b.c commit -qm first && git push -q origin main`,
  ])
  return bare
}

export async function createTurnsWorld(): Promise<TurnsWorld> {
  const database = await createFreshDatabase()
  const world = await createTestWorld(database.db)
  const bare = await makeRepository()
  const pulls: FakePull[] = []
  const comments = new Map<string, string[]>()
  const repeated = new Set<string>()
  let counter = 0
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

  const withRepeats = (saga: Saga): Saga => ({
    ...saga,
    steps: saga.steps.map((step) => ({
      ...step,
      do: async (operation) => {
        await step.do(operation)
        if (repeated.has(operation.targetId)) await step.do(operation)
      },
    })),
  })
  const { context, runner } = world.modules
  const register: typeof runner.register = (sagas) => runner.register(sagas.map(withRepeats))
  const runs = createRunsModule({
    ...{ db: world.db, clock: systemClock, logger, owner: world.modules.owner },
    sealer: context.sealer,
    ...{ docks: { ...context, runner: { ...runner, register } }, gateway: world.host, github },
    ...{ machines: world.modules.docks.machines, isFastOn: true },
    ...{ gitServer: 'https://github.test', appUrl: 'https://dock.test', image: null },
  })
  const repository: LinkedRepository = {
    ...{ installationId: newUuid(), providerInstallationId: 7, organizationId: world.organizationId },
    ...{ workspaceId: world.workspaceId, repositoryId: 77, fullName: 'acme/app', defaultBranch: 'main' },
  }
  const insert: TurnsWorld['insert'] = (trigger, plan) =>
    withTransaction(world.db, (tx) => insertRun(tx, trigger, plan, new Date()))
  const read = async (id: string): Promise<RunRow> => (await findRun(world.db, world.organizationId, id))!

  return {
    ...{ world, runs, repository, github, pulls, comments, repeated, git, insert, read },
    triggerOf: (over = {}) => {
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
          body: {
            author: 'ann',
            isOutsider: false,
            createdAt: '2026-01-01T00:00:00Z',
            body: 'See the footer.',
          },
          ...{ comments: [], hasOutsiderText: false },
        },
        ...over,
      }
    },
    planOf: (commandTemplate, over = {}) => ({
      ...{ createdBy: world.caller.userId, executionTarget: 'dock', agent: 'command', testCommand: null },
      settings: {
        ...{ environment: null, budgetUsd: 5, timeoutSeconds: 60, model: null, commandTemplate },
        allowWorkflowFiles: false,
      },
      ...over,
    }),
    begin: async (trigger, plan) => {
      const id = await insert(trigger, plan)
      if (id === null) throw new Error('no Run was started')
      runs.sink.wake()
      return id
    },
    signal: async (signal) => {
      const isKnown = await withTransaction(world.db, (tx) => runs.sink.signalRun(tx, signal))
      runs.sink.wake()
      return isKnown
    },
    stateOf: async (id) => {
      world.modules.runner.wake()
      const { state, failureReason } = await read(id)
      return failureReason === null ? state : `${state}: ${failureReason}`
    },
    eventsOf: async (id) => {
      const { rows } = await sql<{
        type: string
      }>`select type from run_events where run_id = ${id} order by id`.execute(world.db)
      return rows.map(({ type }) => type)
    },
    logOf: async (id) => {
      const { rows } = await sql<{
        text: string
      }>`select coalesce(string_agg(l.text, '' order by l.at_byte), '') as text
        from run_logs l join run_turns t on t.id = l.turn_id where t.run_id = ${id}`.execute(world.db)
      return rows[0]!.text
    },
    stateOfDock: async (runId) => {
      const { rows } = await sql<{
        state: string
      }>`select d.state from docks d join runs r on r.dock_id = d.id
        where r.id = ${runId}`.execute(world.db)
      return rows[0]!.state
    },
    close: async () => {
      await world.modules.runner.settled()
      await database.drop()
    },
  }
}
