import type { Client, Run, RunState } from '@dock/sdk'
import { findRun, issueOf, listRuns } from '../docks/find-run.ts'
import { findWorkspaceId } from '../docks/workspaces.ts'
import { formatAge } from '../output/formats.ts'
import type { Argument, Command, Flag } from '../program/command.ts'
import { UsageError } from '../program/failures.ts'
import type { Input } from '../program/input.ts'

const states = [
  'pending',
  'provisioning',
  'working',
  'pr_opened',
  'failed',
  'stopped',
  'done',
] satisfies readonly RunState[]
const finalStates: readonly RunState[] = ['failed', 'stopped', 'done']

const argument: Argument = { name: 'RUN', kind: 'run' }
const workspaceFlag: Flag = {
  name: 'workspace',
  value: 'WORKSPACE',
  about: 'the workspace; without it that of the profile, or your first one',
}
const named = 'RUN is an id, the beginning of one, or OWNER/NAME#ISSUE: the newest Run on this issue.'
/** How long the service waits for more of the log. */
const waitSeconds = 30
const listed = 50

const stateOf = (text: string | undefined): RunState | undefined => {
  const state = states.find((each) => each === text)
  if (text !== undefined && !state) throw new UsageError(`--state is one of ${states.join(', ')}.`)
  return state
}

const list: Command = {
  path: ['run', 'ls'],
  summary: 'List the newest Runs of a workspace',
  flags: [
    workspaceFlag,
    { name: 'state', value: 'STATE', about: 'only those in this state', choices: states },
    { name: 'repo', value: 'OWNER/NAME', about: 'only those of this repository' },
    { name: 'limit', value: 'COUNT', about: `at most so many; ${listed} without it` },
  ],
  async run(context, input) {
    const [state, repo] = [stateOf(input.text('state')), input.text('repo')]
    const runs = await listRuns(context, input.text('workspace'), {
      ...(state === undefined ? {} : { state }),
      ...(repo === undefined ? {} : { repo }),
      limit: input.integer('limit') ?? listed,
    })
    context.out.list(
      runs,
      {
        ISSUE: (run) => issueOf(run),
        STATE: (run) => run.state,
        AGENT: (run) => run.agent,
        'PULL REQUEST': (run) => (run.prNumber === null ? '–' : `#${run.prNumber}`),
        AGE: (run) => formatAge(run.createdAt),
        ID: (run) => run.id,
      },
      {
        empty: 'There is no Run. Start one: dock run start OWNER/NAME ISSUE',
      },
    )
  },
}

const show: Command = {
  path: ['run', 'show'],
  summary: 'Show a Run with its timeline and its cost',
  details: named,
  args: [argument],
  flags: [workspaceFlag],
  async run(context, input) {
    const { client, run } = await findRun(context, input.arg('RUN'), input.text('workspace'))
    const cost = await client.call('readRunCost', { params: { id: run.id }, query: {} })
    context.out.result({ ...run, cost }, () => {
      context.out.fields([
        ['issue', issueOf(run)],
        ['state', run.state],
        ['outcome', run.completionStatus],
        ['reason', run.failureReason],
        ['agent', run.agent],
        ['target', run.executionTarget],
        ['branch', run.branch],
        ['for', run.baseBranch],
        ['pull request', run.prUrl],
        ['Dock', run.dockId],
        ['turns', String(cost.turns)],
        ['cost', `about $${cost.costUsd.toFixed(2)} of $${cost.budgetUsd.toFixed(2)}`],
        ['id', run.id],
      ])
      context.out.line('')
      for (const { t, at } of run.events) context.out.line(`${at}  ${t.replaceAll('_', ' ')}`)
    })
  },
}

type Place = { runId: string; turn: number | undefined; follow: boolean }

/** Yields the log part by part. With `follow`, goes on until the turn or the Run has ended. */
async function* readLog(client: Client, { runId, turn, follow }: Place): AsyncGenerator<string> {
  let offset = 0
  let isOver = false
  for (;;) {
    const query = {
      offset,
      ...(turn === undefined ? {} : { turn }),
      ...(follow && !isOver ? { waitSeconds } : {}),
    }
    const part = await client.call('readRunLog', { params: { id: runId }, query })
    // Later parts belong to the same turn, also if another one begins meanwhile.
    turn = part.turn
    offset = part.nextOffset
    if (part.text !== '') {
      yield part.text
      continue
    }
    if (part.isComplete || !follow || isOver) return
    // What the agent wrote before the Run ended is read once more.
    isOver = finalStates.includes((await client.call('readRun', { params: { id: runId }, query: {} })).state)
  }
}

const logs: Command = {
  path: ['run', 'logs'],
  summary: 'Show what the agent of a Run wrote; for admins',
  details: `${named} Control characters are shown, not obeyed.`,
  args: [argument],
  flags: [
    { name: 'follow', short: 'f', about: 'go on until the turn ends' },
    { name: 'turn', value: 'NUMBER', about: 'the turn; without it the latest' },
    workspaceFlag,
  ],
  async run(context, input) {
    const { client, run } = await findRun(context, input.arg('RUN'), input.text('workspace'))
    const place = { runId: run.id, turn: input.integer('turn'), follow: input.has('follow') }
    let rest = ''
    let text = ''
    for await (const part of readLog(client, place)) {
      if (context.out.isJson) {
        text += part
        continue
      }
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) context.out.line(line)
    }
    if (rest !== '') context.out.line(rest)
    if (context.out.isJson) context.out.result({ runId: run.id, text }, () => undefined)
  },
}

/** Shows the Run that a command has changed. */
const changed = (verb: string, summary: string, route: 'stopRun' | 'promoteRun', word: string): Command => ({
  path: ['run', verb],
  summary,
  details: named,
  args: [argument],
  flags: [workspaceFlag],
  async run(context, input) {
    const { client, run } = await findRun(context, input.arg('RUN'), input.text('workspace'))
    const now = await client.call(route, { params: { id: run.id }, query: {} })
    context.out.result(now, () => context.out.note(`${word} ${issueOf(now)}. Its state is ${now.state}.`))
  },
})

const startedBy = (input: Input) => {
  const issueNumber = Number(input.arg('ISSUE').replace(/^#/, ''))
  if (!Number.isInteger(issueNumber) || issueNumber < 1)
    throw new UsageError(`ISSUE is the number of an issue, not ${JSON.stringify(input.arg('ISSUE'))}.`)
  return { repo: input.arg('REPOSITORY'), issueNumber, instruction: input.text('instruction') ?? '' }
}

const start: Command = {
  path: ['run', 'start'],
  summary: 'Start a Run on an issue of a linked repository; for admins',
  args: [{ name: 'REPOSITORY' }, { name: 'ISSUE' }],
  flags: [
    { name: 'instruction', value: 'TEXT', about: 'what the agent shall do; without it what the issue says' },
    workspaceFlag,
  ],
  examples: ['dock run start acme/app 7 --instruction "Only change the tests."'],
  async run(context, input) {
    const started = startedBy(input)
    const client = await context.client()
    const workspaceId = await findWorkspaceId(context, input.text('workspace'))
    const run: Run = await context.out.wait(
      `Starting a Run on ${issueOf(started)}`,
      client.call('startRun', {
        body: { workspaceId, ...started },
        headers: { 'idempotency-key': crypto.randomUUID() },
      }),
    )
    context.out.result(run, () => {
      if (context.out.isQuiet) return context.out.line(run.id)
      context.out.line(`Started ${run.id}. Follow it: dock run logs ${run.id} --follow`)
    })
  },
}

export const runCommands: readonly Command[] = [
  list,
  show,
  logs,
  changed('stop', 'Stop a Run; what it has pushed stays', 'stopRun', 'Stopped'),
  changed('promote', 'Give a Fast Run a Dock', 'promoteRun', 'Promoted'),
  start,
]
