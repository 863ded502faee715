/** What the parts of the proof of Runs share: a server, its GitHub, and Runs that begin with a mention. */
import { setTimeout as delay } from 'node:timers/promises'
import { type CodingAgent, type InstallationSettings, liveRunStates, type Run } from '@dock/contract'
import type { GithubDelivery } from '@dock/testkit/src/github/github-webhooks.ts'
import type { GithubRepository } from '@dock/testkit/src/github/github-world.ts'
import pg from 'pg'
import type { FaultFolder } from '../../crash/fault-folder.ts'
import { processOf, type Victim } from '../../crash/processes.ts'
import { deleteDock } from '../../e2e/support/dock.ts'
import { type RunsWorld, startRunsWorld } from '../../e2e/support/runs-world.ts'

export type Check = (what: string, holds: boolean, detail?: string) => void

/** An issue whose webhook asks for a Run. */
export type Asked = { repository: GithubRepository; issueNumber: number; delivery: GithubDelivery }

export type RunProof = {
  world: RunsWorld
  database: pg.Client
  faults: FaultFolder
  check: Check
  /** Opens an issue with a mention, in a repository whose agent, usually `command`, has this command. */
  ask(command: string, options?: AskOptions): Promise<Asked>
  /** Returns the Runs of the issue. */
  runsOf(asked: Asked): Promise<Run[]>
  /** Waits for the only Run of the issue until it is in one of the states. Returns it. */
  until(asked: Asked, states: readonly Run['state'][], withinMs?: number): Promise<Run>
  /** Waits until the log of the issue's Run contains the text. */
  untilLogged(asked: Asked, text: string): Promise<Run>
  stop(run: Run): Promise<void>
  /** Deletes all Docks and stops fast Runs, so that the next part has the machine for itself. */
  clear(): Promise<void>
  close(): Promise<void>
}

export type AskOptions = {
  agent?: CodingAgent
  title?: string
  body?: string
  /** Its webhook is not sent. */
  isHeld?: boolean
  settings?: Partial<InstallationSettings>
  files?: Record<string, string>
  /** Text of an issue that somebody without write access opens. The mention is then a comment. */
  outsiderBody?: string
}

/** A repository admits ten Runs an hour. */
const asksPerRepository = 10
/** How long the proof waits for an event, also on a busy machine. */
export const lastingMs = 180_000

/** Waits until `ask` returns something other than null. Failures of a server that restarts do not matter. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | null>,
  withinMs = lastingMs,
): Promise<T> {
  let last: unknown
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; await delay(20)) {
    try {
      const found = await ask()
      if (found !== null) return found
    } catch (error) {
      last = error
    }
  }
  throw new Error(`waited ${withinMs / 1000} s for ${what}`, { cause: last })
}

/** Kills the process with SIGKILL. It is started again by its supervisor. */
export async function kill(world: RunsWorld, victim: Victim): Promise<void> {
  const { dataDir } = world.server
  const pid = await eventually(victim, () => processOf(victim, { dataDir, port: world.port }))
  process.kill(pid, 'SIGKILL')
}

export function timeOf(run: Run, event: Run['events'][number]['t']): number {
  return Date.parse(run.events.findLast(({ t }) => t === event)?.at ?? '')
}

export async function startRunProof(
  environment: Record<string, string>,
  faults: FaultFolder,
  check: Check,
): Promise<RunProof> {
  const world = await startRunsWorld({ DOCK_FAULTS: faults.path, ...environment })
  const { client, dataDir } = world.server
  const database = new pg.Client({ host: `${dataDir}/control/run`, user: 'dock', database: 'postgres' })
  await database.connect()
  const free: { repository: GithubRepository; installationId: string; left: number }[] = []
  let count = 0

  /** Returns a repository in which one more Run may begin, with an installation of its own. */
  const takeRepository = async (files: Record<string, string>) => {
    const isPlain = Object.keys(files).length === 0
    const known = isPlain ? free.find(({ left }) => left > 0) : undefined
    if (known) {
      known.left -= 1
      return known
    }
    count += 1
    const { installationId, repositories } = await world.link([`acme/app-${count}`], files)
    const made = { installationId, repository: repositories[0]!, left: isPlain ? asksPerRepository - 1 : 0 }
    free.push(made)
    return made
  }

  const runsOf = async ({ repository, issueNumber }: Asked): Promise<Run[]> =>
    (await world.listRuns()).filter(
      (run) => run.issueNumber === issueNumber && run.repo === `acme/${repository.name}`,
    )
  const onlyRun = async (asked: Asked): Promise<Run | null> => (await runsOf(asked))[0] ?? null
  const until: RunProof['until'] = async (asked, states, withinMs) => {
    const wanted: readonly Run['state'][] = [...states, 'failed']
    const run = await eventually(
      `a Run that is ${states.join(' or ')}`,
      async () => {
        const found = await onlyRun(asked)
        return found && wanted.includes(found.state) ? found : null
      },
      withinMs,
    )
    if (!states.includes(run.state)) throw new Error(`the Run failed: ${run.failureReason}`)
    return run
  }

  return {
    ...{ world, database, faults, check, runsOf, until },
    ask: async (command, options = {}) => {
      const { title = 'Broken', body = `${world.mention} Please.`, isHeld = false } = options
      const { agent = 'command', settings = {}, files = {}, outsiderBody } = options
      const { repository, installationId } = await takeRepository(files)
      await eventually('the settings', async () => {
        await world.use(installationId, agent, {
          ...{ commandTemplate: command, executionTarget: 'dock', environmentId: null },
          ...{ budgetCents: 500, timeoutSeconds: 600, ...settings },
        })
        return true
      })
      const { github } = world
      github.webhooks.isHeld = isHeld
      if (outsiderBody === undefined) {
        const { issue, delivery } = await github.openIssue(repository, 'ada', { title, body })
        return { repository, issueNumber: issue.number, delivery }
      }
      const { issue } = await github.openIssue(repository, 'mallory', { title, body: outsiderBody })
      const { delivery } = await github.comment(repository, issue.number, 'ada', body)
      return { repository, issueNumber: issue.number, delivery }
    },
    untilLogged: (asked, text) =>
      eventually(`${text} in the log`, async () => {
        const run = await onlyRun(asked)
        return run && (await world.readLog(run.id)).includes(text) ? run : null
      }),
    stop: async ({ id }) => void (await client.call('stopRun', { params: { id }, query: {} })),
    clear: async () => {
      const runs = await eventually('the Runs', world.listRuns)
      for (const { id, executionTarget, state } of runs)
        if (executionTarget === 'fast' && liveRunStates.includes(state))
          await client.call('stopRun', { params: { id }, query: {} })
      const docks = await eventually('the Docks', () => client.call('listDocks', { query: { all: true } }))
      const deletions = docks.map(({ id }) =>
        eventually('the end of a Dock', () => deleteDock(world.server, id).then(() => true)),
      )
      await Promise.all(deletions)
    },
    close: async () => {
      await database.end()
      await world.close()
    },
  }
}

/** Runs `work` for each number below `count`, one after another. */
export async function rounds(count: number, work: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < count; round++) await work(round)
}

/** What of a Run is at GitHub: each should be there once. */
export async function countAtGithub({ world }: RunProof, asked: Asked, branch: string): Promise<string> {
  const { repository, issueNumber } = asked
  const listed = await world.github.git.run(repository, 'for-each-ref', '--format=%(refname:short)')
  const branches = listed.split('\n').filter((each) => each.startsWith(`dock/issue-${issueNumber}-`))
  const pulls = repository.issues.filter(({ pull }) => pull?.head === branch)
  const comments = repository.comments.filter((each) => each.issueNumber === issueNumber)
  return `${branches.length} branch, ${pulls.length} pull request, ${comments.length} comment`
}
export const oneOfEach = '1 branch, 1 pull request, 1 comment'

/** Returns the middle, the 95th percentile and the largest. */
export function spread(figures: readonly number[]): { p50: number; p95: number; max: number } {
  const sorted = figures.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95), max: at(1) }
}
