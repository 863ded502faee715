/**
 * script/prove agents [AGENT…]: opencode, Claude Code and Codex, as they are in the image debian-13-agents, work on an issue
 * in a real Dock. Their model is a scripted one behind the door. Each commits, continues its session for a review, and again
 * after its Dock was archived. The repository's own configuration of the agents is hostile, and the model obeys it.
 */
import { randomBytes } from 'node:crypto'
import type { CodingAgent, Run } from '@dock/contract'
import { print } from '../../bench/parts/bench-server.ts'
import { createFaultFolder } from '../crash/fault-folder.ts'
import { wordsInMemory } from '../e2e/support/search-memory.ts'
import { hostileFiles, instructions, startElsewhere, unprotected } from './agents/elsewhere.ts'
import { startScriptedAgent, turnOf } from './agents/scripted-agent.ts'
import { buildImage } from './images/build-image.ts'
import {
  type Asked,
  type Check,
  countAtGithub,
  eventually,
  oneOfEach,
  startRunProof,
  timeOf,
} from './runs/run-proof.ts'

const image = 'debian-13-agents'
type RealAgent = Exclude<CodingAgent, 'command'>
const agents: Readonly<Record<RealAgent, { model: string; readsInstructions: boolean }>> = {
  opencode: { model: 'anthropic/claude-sonnet-4-5', readsInstructions: true },
  // The task tells these to read the file; a scripted model does not.
  'claude-code': { model: 'claude-sonnet-4-5', readsInstructions: false },
  codex: { model: 'gpt-5', readsInstructions: false },
}
const all = Object.keys(agents) as RealAgent[]
const given = process.argv.slice(2)
const chosen = all.filter((each) => given.length === 0 || given.includes(each))
if (given.some((each) => !Object.hasOwn(agents, each))) {
  print(`usage: script/prove agents [AGENT…], where AGENT is one of: ${all.join(' ')}`)
  process.exit(2)
}
const turnMs = 10 * 60_000

let problems = 0
const check: Check = (what, holds, detail = '') => {
  if (!holds) problems += 1
  print(`${holds ? 'holds ' : 'BROKEN'}  ${what}${detail && `: ${detail}`}`)
}

const modelKey = `canary${randomBytes(16).toString('hex')}`
const scripted = await startScriptedAgent()
const elsewhere = await startElsewhere()
const faults = await createFaultFolder()
const proof = await startRunProof(
  {
    ...{ DOCK_RUN_IMAGE: image, DOCK_WARM_POOL: '0' },
    ...{ MODEL_ANTHROPIC_URL: scripted.models.url, MODEL_OPENAI_URL: scripted.models.url },
  },
  faults,
  check,
)
const { world, database } = proof
const { github, server } = world
const { client, admin } = server

const createEnvironment = async (): Promise<string> => {
  const { organizationId } = admin
  for (const provider of ['anthropic', 'openai'] as const)
    await client.call('setProviderKey', { body: { organizationId, provider, key: modelKey } })
  const { id } = await client.call('createEnvironment', { body: { organizationId, name: 'agents' } })
  await client.call('updateEnvironment', { params: { ref: id }, body: { passAgentsCredentials: true } })
  return id
}

/** The files of the repository take over agents that are started as usual. */
const proveControls = async (environmentId: string, names: readonly RealAgent[]): Promise<void> => {
  const lines = names.map(
    (name) => `rm -f /tmp/*-ran; ${unprotected[name]}; ls -d /tmp/*-ran 2>/dev/null; echo "== ${name}"`,
  )
  const asked = await proof.ask(`${lines.join('\n')}\ntrue`, {
    settings: { environmentId },
    files: hostileFiles,
  })
  const run = await proof.until(asked, ['done', 'pr_opened'], turnMs)
  const log = await world.readLog(run.id)
  const urls = (await elsewhere.requests()).map(({ url }) => url)
  for (const name of names) {
    const path = `/${name.replace('-code', '')}`
    const own =
      log
        .slice(0, log.indexOf(`== ${name}`))
        .split('\n== ')
        .at(-1) ?? ''
    check(
      `control: started as usual, ${name} asks the address of the repository`,
      urls.some((url) => url.startsWith(path)),
      `${[...new Set(urls)].join(' ')}, ran: ${own.match(/\S+-ran/g)?.join(' ') ?? 'nothing'}, it said ${own.replaceAll('\n', ' ').slice(-300)}`,
    )
  }
  await elsewhere.forget()
  await proof.stop(run).catch(() => undefined)
  await proof.clear()
}

/** Waits until the turn has ended, or the Run. */
const untilTurn = async (asked: Asked, turn: number): Promise<Run> =>
  eventually(
    `the end of turn ${turn}`,
    async () => {
      const [run] = await proof.runsOf(asked)
      if (run === undefined) return null
      const updates = run.events.filter(({ t }) => t === 'pr_updated').length
      if (run.state === 'pr_opened' && updates >= turn - 1) return run
      if (run.state === 'failed' || run.state === 'done' || run.state === 'stopped')
        throw new Error(`the Run is ${run.state}`)
      return null
    },
    turnMs,
  )

const secondsOf = (run: Run, from: Run['events'][number]['t'], to: Run['events'][number]['t']): string =>
  `${((timeOf(run, to) - timeOf(run, from)) / 1000).toFixed(1)} s`

const archive = async (run: Run): Promise<void> => {
  await database.query('update runs set archive_at = now() where id = $1', [run.id])
  await eventually('the archived Dock', async () => {
    const { state } = await client.call('readDock', { params: { id: run.dockId! } })
    return state === 'archived' ? true : null
  })
}

/** Searches the machine's memory while the agent waits for the model. */
const searchMemory = async (name: string, asked: Asked): Promise<void> => {
  const [run] = await proof.runsOf(asked)
  const { dockId } = run!
  const tokens = [...github.world.tokens].flatMap(([token, { kind }]) =>
    kind === 'installation' ? token : [],
  )
  const found = await wordsInMemory(dockId!, [scripted.marker, modelKey, ...tokens])
  check(`${name}: control: its memory has what the model said`, found.has(scripted.marker))
  check(`${name}: no key of a model is in its memory`, !found.has(modelKey))
  check(
    `${name}: no token of GitHub is in its memory`,
    tokens.length > 0 && !tokens.some((token) => found.has(token)),
    `${tokens.length} issued`,
  )
}

const prove = async (name: RealAgent, environmentId: string): Promise<void> => {
  const { model, readsInstructions } = agents[name]
  const { requests } = scripted.models
  scripted.begin()
  const asked = await proof.ask('true', {
    ...{ agent: name, title: 'The footer is wrong', files: hostileFiles },
    ...{ body: `${world.mention} Please fix it.`, settings: { environmentId, model } },
  })
  const { repository, issueNumber } = asked
  const git = (...words: string[]) => github.git.run(repository, ...words)
  const first = await untilTurn(asked, 1)
  print(
    `        ${name}: ${secondsOf(first, 'queued', 'agent_started')} to the agent, ${secondsOf(first, 'agent_started', 'pr_opened')} to the pull request`,
  )
  const pull = repository.issues.find(({ number }) => number === first.prNumber)
  check(
    `${name}: a mention leads to one draft pull request from the branch of the Run into main`,
    pull?.pull?.isDraft === true &&
      pull.pull.base === 'main' &&
      pull.pull.head === first.branch &&
      (await git('rev-parse', `${first.branch}~1`)) === (await git('rev-parse', 'main')) &&
      (await countAtGithub(proof, asked, first.branch!)) === oneOfEach,
    `${pull?.title}, ${await countAtGithub(proof, asked, first.branch!)}`,
  )
  check(
    `${name}: its body has the issue, the cost and the agent's report`,
    pull?.body.includes(`#${issueNumber}`) === true &&
      pull.body.includes('Its models cost ') &&
      pull.body.includes('I changed the page in turn 1.'),
    pull?.body.replaceAll('\n', ' '),
  )
  check(
    `${name}: the branch has what the model said`,
    (await git('show', `${first.branch}:work.txt`)) === 'turn 1',
  )
  const message = await git('log', '-1', '--format=%s', first.branch!)
  check(`${name}: the commit has the agent's message`, message === 'Work of turn 1', message)

  scripted.atEnd = (turn) => (turn === 2 ? searchMemory(name, asked) : Promise.resolve())
  await github.review(repository, first.prNumber!, 'ada', {
    body: 'And the header.',
    state: 'changes_requested',
  })
  const second = await untilTurn(asked, 2)
  print(`        ${name}: ${secondsOf(second, 'feedback', 'pr_updated')} from the review to the update`)
  const seesTurns = (turn: number): boolean => requests.some((request) => turnOf(request) === turn)
  check(`${name}: a review continues the same session`, seesTurns(2), requests.map(turnOf).join(' '))
  await archive(second)
  await github.comment(repository, first.prNumber!, 'ada', `${world.mention} And the sides.`)
  const third = await untilTurn(asked, 3)
  print(
    `        ${name}: ${secondsOf(third, 'feedback', 'pr_updated')} from a comment to the update, in an archived Dock`,
  )
  check(
    `${name}: its session continues after its Dock was archived`,
    seesTurns(3),
    requests.map(turnOf).join(' '),
  )
  const work = await git('show', `${first.branch}:work.txt`)
  check(
    `${name}: the branch has the work of all turns`,
    work === 'turn 1\nturn 2\nturn 3',
    work.replaceAll('\n', ', '),
  )
  check(
    `${name}: one branch, pull request and comment`,
    (await countAtGithub(proof, asked, first.branch!)) === oneOfEach,
  )

  const keys = new Set(requests.map(({ headers }) => headers['x-api-key'] ?? headers.authorization))
  check(
    `${name}: each request to the model has the organization's key`,
    requests.length > 0 && [...keys].every((key) => key === modelKey || key === `Bearer ${modelKey}`),
    `${requests.length} requests`,
  )
  const named = new Set(requests.map((request) => request.model))
  check(
    `${name}: the model is the one of the settings`,
    named.has(model.split('/').at(-1)!),
    [...named].join(' '),
  )
  if (readsInstructions)
    check(
      `${name}: the model gets the repository's AGENTS.md`,
      requests.some(({ body }) => body.includes(instructions)),
    )
  const results = requests.flatMap((request) => request.results).join('\n')
  const ran = results.match(/\S+-ran/g)?.join(' ')
  check(`${name}: no plugin, hook or server of the repository ran`, results.includes('worked-1') && !ran, ran)
  const sent = await elsewhere.requests()
  const stolen = sent.filter(({ url }) => url === '/stolen')
  const text = stolen.map(({ body }) => body).join('\n')
  check(
    `${name}: control: the machine reaches the attacker, and sends what it can read`,
    stolen.length === 3 && text.includes(first.id),
    `${stolen.length} times, ${text.length} bytes`,
  )
  check(
    `${name}: no key and no token is in it`,
    !text.includes(modelKey) && !/gh[su]_[0-9A-Za-z]{16}/.test(text),
  )
  const others = sent.filter(({ url }) => url !== '/stolen').map(({ url }) => url)
  check(`${name}: the agent itself asks the attacker nothing`, others.length === 0, others.join(' '))
  const cost = await client.call('readRunCost', { params: { id: first.id }, query: {} })
  check(`${name}: tokens are counted`, cost.inputTokens >= 600 && cost.costUsd > 0, `$${cost.costUsd}`)
  await proof.stop(third)
  await proof.clear()
  await elsewhere.forget()
}

/** The model never comes to an end. A reply costs 0.06 cents. */
const proveBudget = async (name: RealAgent, environmentId: string): Promise<void> => {
  scripted.begin()
  scripted.isEndless = true
  const asked = await proof.ask('true', {
    ...{ agent: name, settings: { environmentId, model: agents[name].model, budgetCents: 1 } },
  })
  const run = await proof.until(asked, ['failed'], turnMs)
  const cost = await client.call('readRunCost', { params: { id: run.id }, query: {} })
  const tookMs = timeOf(run, 'failed') - scripted.repliedAt
  check(
    `${name}: at its budget the Run fails within 5 s, and opens no pull request`,
    run.completionStatus === 'budget_exhausted' && run.prNumber === null && tookMs <= 5_000,
    `${tookMs} ms after the last reply, $${cost.costUsd} of $0.01`,
  )
  await proof.clear()
}

try {
  await buildImage(server, image)
  const environmentId = await createEnvironment()
  await proveControls(environmentId, chosen).catch((error: unknown) =>
    check('controls', false, String(error)),
  )
  for (const name of chosen)
    await prove(name, environmentId)
      .then(() => proveBudget(name, environmentId))
      .catch(async (error: unknown) => {
        const [run] = await world.listRuns()
        const log = run ? await world.readLog(run.id) : ''
        check(`${name} works`, false, `${error}: ${run?.failureReason}\n${log.slice(-6_000)}`)
        await proof.clear()
      })
} finally {
  await proof.close()
  await faults.remove()
  await elsewhere.close()
  await scripted.models.close()
}
print(problems === 0 ? 'agents work, and only behind the door' : `${problems} problems`)
process.exit(problems === 0 ? 0 : 1)
